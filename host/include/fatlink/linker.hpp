// SPDX-License-Identifier: Apache-2.0
// Links inputs of every form to one image with nvJitLink. Preflight runs first; a finding of
// severity error stops the link before nvJitLink reads any input. nvJitLink receives only the entry
// of each module that preflight checked (linked_entry), in a fatbin that fatlink writes. A line of
// its logs that begins with `error` or `fatal` fails the link, whatever the status; so does such a
// line on standard error, but only in the helper: in this process, standard error belongs to the
// host. In lto mode, inputs whose types preflight cannot read (is_opaque) are first compared with
// the other inputs by additional links, unless the cache holds the result. Threads: one linker may
// be used by several threads at once; their links run in parallel. A thread can be cancelled only
// while it waits for the helper. Fork: a child process starts its own helpers. Process exit: links
// in the helper work until the process has ended; links in this process are refused once static
// objects are being destroyed.
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
#include "fatlink/find_link_helper.hpp"
#include "fatlink/finding.hpp"
#include "fatlink/image.hpp"
#include "fatlink/input.hpp"
#include "fatlink/link_options.hpp"
#include "fatlink/nvjitlink.hpp"

namespace FATLINK_API fatlink {

/// Where nvJitLink runs: in the helper (fatlink-linkd), a separate process without access to files,
/// network or other processes, or in the host process. In the helper, an input that crashes, hangs
/// or takes over nvJitLink fails only its own link. In the host process the first link starts about
/// 10 ms sooner. A child that the host forks while another thread links in process must end by
/// `_exit` or exec, not by `exit`: nvJitLink's exit handlers can wait forever in it for a lock that
/// the thread held at the fork (seen with nvJitLink 13.0).
enum class isolation { in_process, helper };

/// The hosts that a shipped layer serves: those that name no nvJitLink (linker_settings::nvjitlink,
/// $FATLINK_NVJITLINK), whether they have another one or none; or all, also those that name the
/// nvJitLink that made the links, which takes a second entry for each link.
enum class layer_hosts { unnamed, all };

/// The cache key of a link: the digests of the modules in order, target, mode, emitted form,
/// allow_calls, nvJitLink's options (float flags included; not driver_cache, and of threads only
/// whether an lto link has several) and `nvjitlink_identity` (nvjitlink_file::identity; empty: of a
/// link that is shipped, layer_hosts::unnamed). File names and paths are not part of it.
cache_key link_key(std::span<fatbin const> inputs, link_options const& options,
                   std::string const& nvjitlink_identity);
/// As above, of the modules of `inputs` that the link takes (select_modules).
/// @throws usage_error, format_error as select_modules.
cache_key link_key(std::vector<input> const& inputs, link_options const& options,
                   std::string const& nvjitlink_identity);

/// How a linker works. Every field has a default.
struct linker_settings {
  fatlink::isolation isolation = isolation::helper;  ///< where nvJitLink runs
  /// Time limit for one link, including the start of the helper and the links that check types;
  /// enforced only with isolation::helper. Must be above 0.
  std::chrono::milliseconds time_limit = std::chrono::seconds(60);
  /// Searched before each link; receives each new link. A link that the cache holds starts neither
  /// nvJitLink nor a helper. First of all, unless the nvJitLink is named, the links are searched
  /// that packages ship, for the target or as cubins for an older one that run there
  /// (target::compatible_targets); linked_image::target states which. A cache problem is a warning
  /// of the image. Null: no cache.
  std::shared_ptr<link_cache> cache = {};
  /// The libnvJitLink.so.13 to use, and no other; empty: the first that nvjitlink::locate finds.
  std::filesystem::path nvjitlink = {};
  /// Also links where the kernel refuses the helper's sandbox (seccomp), with a warning for each
  /// link; otherwise such links fail. Only for isolation::helper.
  bool allow_unconfined = false;
};

/// Links inputs of every form. Copies share their helpers and their cache.
class linker {
 public:
  /// Finds nvJitLink and starts the helper at the first link, not now.
  /// @throws usage_error `isolation` is not an enumerator, or `time_limit` is not above 0.
  explicit linker(linker_settings settings = {});

  /// As passed to the constructor. @throws usage_error this linker was moved from.
  [[nodiscard]] linker_settings const& settings() const;

  /// Links `inputs`, the library first; of archives, what select_modules() returns. Passes on the
  /// float flags that the entries record, so that both modes compute alike. Deterministic: the same
  /// inputs give the same bytes.
  /// @throws refused_error preflight found an error, or the type check did:
  ///   signature-mismatch, missing-hook, missing-variable, unchecked-types; or the image lacks a
  ///   kernel or variable that was asked for: unknown-kernel, unknown-variable.
  /// @throws link_error nvJitLink failed, with its complete log and code; or the helper died (code
  ///   SIGSEGV, …), exceeded the time limit (ETIMEDOUT) or sent an invalid reply (EPROTO); or a
  ///   hook is still called and `require_inlined` is set (error_code::not_inlined).
  /// @throws format_error an entry of an input is damaged, which reading the input did not show.
  /// @throws unavailable_error there is no nvJitLink or no helper, and the cache does not hold the
  ///   link; or the kernel refuses the helper's sandbox; or a ptx_set is asked for, and an input
  ///   holds SASS only (error_code::needs_gpu).
  /// @throws usage_error there are no inputs, an input or this linker was moved from, `emit` does
  ///   not fit the mode, a value is not an enumerator, or what check_link_options refuses.
  linked_image link(std::vector<input> const& inputs, link_options const& options);
  /// As above, of modules: all of them are linked.
  linked_image link(std::span<fatbin const> inputs, link_options const& options);

  /// What link() finds in `inputs`, modules, by additional links after preflight: about types that
  /// preflight cannot read, and inline functions of one name that differ. Errors would stop link().
  /// Does not ask the cache; `options.emit` has no effect. Throws what link() throws;
  /// refused_error only if preflight found an error.
  std::vector<finding> check(std::span<fatbin const> inputs, link_options const& options);

  /// Links with nvJitLink or from the cache, not from another layer's shipped links, and also
  /// writes the result into `layer`, a cache folder to be shipped to `hosts`.
  /// Throws what link() throws; usage_error `emit` is ptx_set; file_error `layer` cannot be
  ///   written.
  linked_image link_into(std::filesystem::path const& layer, std::vector<input> const& inputs,
                         link_options const& options, layer_hosts hosts = layer_hosts::all);
  /// As above, of modules: all of them are linked.
  linked_image link_into(std::filesystem::path const& layer, std::span<fatbin const> inputs,
                         link_options const& options, layer_hosts hosts = layer_hosts::all);

 private:
  class FATLINK_PRIVATE session;
  struct FATLINK_PRIVATE state;
  std::shared_ptr<state> state_;  // shared by copies
};

}  // namespace fatlink
