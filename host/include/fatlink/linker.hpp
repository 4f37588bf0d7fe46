// SPDX-License-Identifier: Apache-2.0
// Links fatbins to one image with nvJitLink. Preflight runs first; a finding of severity error
// stops the link before nvJitLink sees a byte. Of each input nvJitLink receives only the entry that
// preflight judged (linked_entry), in a fatbin that fatlink writes. A line of its logs that begins
// with `error` or `fatal` fails the link, whatever the status; in the helper also a line that it
// prints on standard error. In this process its standard error is the host's, and not touched.
// In lto mode, inputs whose types preflight cannot read (is_opaque) are first compared with the
// other inputs by links of their own; not where the cache has the link.
// Threads: one linker may be used by several threads; links run side by side. A thread that links
// in the helper can be cancelled while it waits for the helper, and nowhere else; one that links in
// this process, not at all. Fork: a child starts helpers of its own. Exit: helpers link as long as
// the process runs; in this process links are refused once its static objects are being destroyed.
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

/// Where nvJitLink runs. In the helper, a process of its own without access to files, network or
/// other processes (fatlink-linkd), inputs that crash, hang or take over nvJitLink fail the link
/// and nothing else. In the host's own process, a first link starts somewhat sooner.
enum class isolation { in_process, helper };

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

struct linker_options {
  fatlink::isolation isolation = isolation::helper;
  /// Time limit for one link, the helper's start and the links that check included; enforced only
  /// in the helper.
  std::chrono::milliseconds limit = std::chrono::seconds(60);
  /// Links in a helper without a sandbox where the kernel refuses seccomp, with a warning for each
  /// link. Otherwise such links fail.
  bool allow_unconfined = false;
  /// See linker::use.
  std::shared_ptr<link_cache> cache = {};
};

class linker {
 public:
  /// In the helper, without a cache. Finds nvJitLink at the first link, not now.
  linker();
  /// @throws usage_error a value that is no enumerator, or a limit that is not above 0.
  explicit linker(linker_options options);
  /// In this process, with `library`.
  explicit linker(std::shared_ptr<nvjitlink const> library);

  /// Asks `cache` before it links, and stores what it linked. Where the cache has the link, neither
  /// nvJitLink nor a helper is started. A cache problem is a warning of the image.
  linker& use(std::shared_ptr<link_cache> cache);

  /// Links `inputs`, the library's fatbin first. The float flags the entries record are
  /// passed on, so both modes compute alike. Deterministic: the same inputs, the same bytes.
  /// @throws refused_error preflight found an error, or the check by a link did:
  ///   signature-mismatch, missing-hook, unchecked-types.
  /// @throws link_error nvJitLink failed; log and code are complete. Or its helper died (code
  ///   SIGSEGV, …), took too long (ETIMEDOUT) or sent no valid reply (EPROTO); or a call is left
  ///   (NOT_INLINED).
  /// @throws unavailable_error no nvJitLink or no helper, and the cache does not have the link; or
  ///   the kernel refuses the helper's sandbox.
  /// @throws usage_error no inputs, an input or a linker that was moved from, `emit` is not of the
  /// mode, or a value that is no enumerator.
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
