// SPDX-License-Identifier: Apache-2.0
// A linked image: the result of a link, and facts about it.
#pragma once

#include <string>
#include <vector>

#include "fatlink/bytes.hpp"
#include "fatlink/export.hpp"
#include "fatlink/target.hpp"

namespace FATLINK_API fatlink {

/// What a link produces. The last two kinds cannot be loaded; they are inputs of another link. Each
/// is a fatbin with one entry, with digests and the contract of its inputs; hooks may be missing.
enum class image_kind {
  cubin,        ///< for a GPU
  ptx,          ///< optimised PTX, for the reference device
  ptx_set,      ///< the unlinked PTX of the inputs, which the reference device links itself
  ltoir,        ///< a fatbin with the LTO-IR of all inputs; lto mode, nvJitLink 13.4 and newer
  relocatable,  ///< a fatbin with a relocatable cubin (-r); nvJitLink 13.1 and newer, 13.3 in lto
                ///< mode
};
/// "cubin", "ptx", "ptx_set", "ltoir" or "relocatable".
char const* to_string(image_kind kind) noexcept;

/// Whether the link was found in the cache; `off` if no cache was used.
enum class cache_outcome { off, miss, hit };
/// "off", "miss" or "hit".
char const* to_string(cache_outcome outcome) noexcept;

/// A hook, and whether all calls to it were inlined.
struct hook_fact {
  std::string name = {};    ///< name of the hook
  bool inlined = false;     ///< no call of the hook is left
  bool is_default = false;  ///< no transform defines it: the library's weak definition is called
};
/// "inlined", "called", or "default" for a hook that no transform defines.
char const* to_string(hook_fact const& hook) noexcept;

/// The PTX of an input.
struct ptx_part {
  std::string name = {};  ///< name of the input, for messages
  std::string text = {};  ///< the PTX
};

/// Wall time of each step that produced the image, in milliseconds.
struct link_times {
  double find_ms = 0;       ///< finding nvJitLink's file
  double preflight_ms = 0;  ///< checking the inputs
  double key_ms = 0;        ///< hashing the inputs, if not cached, and composing the key
  double lookup_ms = 0;     ///< in the cache: reading, waiting for other callers, storing
  double open_ms = 0;       ///< opening nvJitLink, or starting the helper that does
};

/// The result of a link.
struct linked_image {
  byte_buffer bytes = {};  ///< the cubin, PTX text without the trailing NUL, or the fatbin
  std::vector<ptx_part> parts = {};        ///< of a ptx_set, whose `bytes` are empty
  image_kind kind = image_kind::cubin;     ///< what `bytes` or `parts` hold
  fatlink::target target = {};             ///< of the code: the requested target, or an older one
                                           ///< whose code runs on it
  link_mode mode = link_mode::ptx;         ///< the mode of the link
  std::vector<hook_fact> hooks = {};       ///< of all inputs, sorted by name; empty for ltoir
  std::vector<std::string> warnings = {};  ///< preflight's warnings and nvJitLink's, one line each
  cache_outcome cache = cache_outcome::off;  ///< whether the image came from the cache
  double link_ms = 0;     ///< wall time of the link itself; 0 for an image from the cache
  link_times times = {};  ///< of the other steps

  /// Whether transforms define at least one hook, and all these hooks were inlined.
  [[nodiscard]] bool inlined() const noexcept;
};

}  // namespace fatlink
