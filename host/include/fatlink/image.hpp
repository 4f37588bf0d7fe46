// SPDX-License-Identifier: Apache-2.0
// A linked image: the cubin (or PTX) a link made, and the facts about it.
#pragma once

#include <string>
#include <vector>

#include "fatlink/bytes.hpp"
#include "fatlink/export.hpp"
#include "fatlink/target.hpp"

namespace FATLINK_API fatlink {

/// A ptx_set is the inputs' own PTX, not yet linked: the reference device links it by name.
enum class image_kind { cubin, ptx, ptx_set };
/// "cubin", "ptx" or "ptx_set".
char const* to_string(image_kind kind) noexcept;

/// Whether the link cache had the link: `off` if no cache was used.
enum class cache_outcome { off, miss, hit };
/// "off", "miss" or "hit".
char const* to_string(cache_outcome outcome) noexcept;

/// A hook and whether its call is gone from the linked code.
struct hook_fact {
  std::string name = {};  ///< name of the hook
  bool inlined = false;   ///< no call of the hook is left
};

/// An input's PTX.
struct ptx_part {
  std::string name = {};  ///< the input's, for messages
  std::string text = {};  ///< the PTX
};

/// Where the time until an image was there went, wall time in milliseconds.
struct link_times {
  double find_ms = 0;       ///< finding nvJitLink's file
  double preflight_ms = 0;  ///< judging the inputs
  double key_ms = 0;        ///< hashing what was not hashed yet, composing the key
  double lookup_ms = 0;     ///< in the cache: reading, waiting for others, storing
  double open_ms = 0;       ///< opening nvJitLink, or starting the helper that does
};

/// The result of a link.
struct linked_image {
  byte_buffer bytes = {};                  ///< the cubin, or PTX text without the trailing NUL
  std::vector<ptx_part> parts = {};        ///< of a ptx_set, which has no bytes
  image_kind kind = image_kind::cubin;     ///< what `bytes` or `parts` hold
  fatlink::target target = {};             ///< the target of the link
  link_mode mode = link_mode::ptx;         ///< the mode of the link
  std::vector<hook_fact> hooks = {};       ///< of all inputs, in order of name
  std::vector<std::string> warnings = {};  ///< preflight's warnings and nvJitLink's, one line each
  cache_outcome cache = cache_outcome::off;  ///< whether nvJitLink made it now
  double link_ms = 0;     ///< wall time of the link alone; 0 where the cache had it
  link_times times = {};  ///< and of all around it

  /// Whether there are hooks and every one was inlined.
  [[nodiscard]] bool inlined() const noexcept;
};

}  // namespace fatlink
