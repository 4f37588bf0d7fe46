// SPDX-License-Identifier: Apache-2.0
// Links fatbins to one image with nvJitLink. Preflight runs first; a finding of severity error
// stops the link before nvJitLink sees a byte. Of each input nvJitLink receives only the entry that
// preflight judged (linked_entry), in a fatbin that fatlink writes. What nvJitLink prints on the
// process's standard error is captured; a line there or in its logs that begins with `error` or
// `fatal` fails the link, whatever the status.
// In lto mode, inputs whose types preflight cannot read (is_opaque) are first compared with the
// other inputs by links of their own; not where the cache has the link. Threads: one linker may be
// used by several threads. In one process links are serialised while nvJitLink's standard error is
// captured; workers link side by side.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fatlink/cache.hpp"
#include "fatlink/export.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/image.hpp"
#include "fatlink/nvjitlink.hpp"
#include "fatlink/preflight.hpp"

namespace FATLINK_API fatlink {

/// Where nvJitLink runs. In a process of its own (fatlink-linkd) damaged inputs that crash or hang
/// it fail the link and nothing else; in the host's own, a first link starts somewhat sooner.
enum class isolation { in_process, worker };

/// The fatlink-linkd that links run in: $FATLINK_LINKD; else the first that can be executed of: the
/// installed one, by the folder of this library or of the program; the default one, below; those in
/// /usr/local/libexec, /usr/libexec, /usr/local/lib/fatlink and /usr/lib/fatlink.
/// @throws unavailable_error none can be executed; names the places.
std::filesystem::path find_link_helper();

/// States the helper of a program that has this library linked in, and is installed elsewhere than
/// fatlink. The cache layers of that installation are used too (default_cache_settings). The last
/// call counts. Programs that link to the CMake target fatlink::static need no call: the package
/// defines FATLINK_LINK_HELPER for them, the absolute path of the helper it was installed with.
void set_default_link_helper(std::filesystem::path file);

#ifdef FATLINK_LINK_HELPER
/// Calls set_default_link_helper before `main`.
inline bool const link_helper_is_stated = (set_default_link_helper(FATLINK_LINK_HELPER), true);
#endif

struct link_options {
  fatlink::target target;
  link_mode mode = link_mode::lto;
  /// PTX can be emitted in LTO mode only, a ptx_set in PTX mode only (no nvJitLink is needed).
  image_kind emit = image_kind::cubin;
  std::string kernel;            ///< must be in an input; empty: any
  bool require_inlined = false;  ///< a hook still called after the link is an error
};

/// What the cache knows a link by: the inputs' digests in order, target, mode, what is emitted,
/// nvJitLink's options (float flags among them) and the identity of the nvJitLink that links
/// (nvjitlink_file; empty: of none). No name and no path.
cache_key link_key(std::vector<fatbin> const& inputs, link_options const& options,
                   std::string const& nvjitlink_identity);

class linker {
 public:
  /// Finds nvJitLink at the first link, not now.
  linker();
  explicit linker(std::shared_ptr<nvjitlink const> library);
  /// `limit`: time limit for one link; enforced only with `isolation::worker`.
  explicit linker(isolation where, std::chrono::milliseconds limit = std::chrono::seconds(60));

  /// Asks `cache` before it links, and tells it what it linked. Where it has the link, neither
  /// nvJitLink nor a worker is opened. What is wrong with the cache is a warning of the image.
  linker& use(std::shared_ptr<link_cache> cache);

  /// Links `inputs`, the library's fatbin first. The float flags the entries record are
  /// passed on, so both modes compute alike. Deterministic: the same inputs, the same bytes.
  /// @throws refused_error preflight found an error, or the check by a link did:
  ///   signature-mismatch, missing-hook, unchecked-types.
  /// @throws link_error nvJitLink failed; log and code are complete. Or its worker died (code
  ///   SIGSEGV, …) or took too long (ETIMEDOUT); or a call is left (NOT_INLINED).
  /// @throws unavailable_error no nvJitLink, and the cache does not have the link.
  /// @throws usage_error `emit` is not of the mode.
  linked_image link(std::vector<fatbin> const& inputs, link_options const& options);

  /// The same, and puts the link into `layer`, a folder to be shipped: for hosts with this
  /// nvJitLink, and for hosts with none.
  /// @throws as link; and file_error `layer` cannot be written.
  linked_image link_into(std::filesystem::path const& layer, std::vector<fatbin> const& inputs,
                         link_options const& options);

 private:
  class FATLINK_PRIVATE session;
  struct FATLINK_PRIVATE state;
  std::shared_ptr<state> state_;  // copies share what they found
};

}  // namespace fatlink
