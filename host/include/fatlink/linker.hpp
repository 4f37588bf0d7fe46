// SPDX-License-Identifier: Apache-2.0
// Links inputs of every form to one image with nvJitLink. Preflight runs first; a finding of
// severity error stops the link before nvJitLink reads any input. Of each module, nvJitLink
// receives only the entry that preflight checked (linked_entry), in a fatbin that fatlink writes. A
// link fails if a line of nvJitLink's logs begins with `error` or `fatal`, whatever status it
// returns. In the helper, such a line on standard error has the same effect; in this process,
// standard error belongs to the host and is not read. In lto mode, inputs whose types preflight
// cannot read (is_opaque) are first compared with the other inputs by additional links, unless the
// cache holds the result.
//
// Threads: one linker may be used by several threads at once; their links run in parallel. A thread
// can be cancelled only while it waits for the helper.
// Fork: a child process starts its own helpers.
// Process exit: links in the helper work until the process has ended; links in this process are
// refused once the destruction of static objects has begun.
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

/// Where nvJitLink runs. `helper`: in fatlink-linkd, a separate process without access to files,
/// the network or other processes. If an input crashes, hangs or exploits nvJitLink, only the link
/// of this input fails. `in_process`: in the host process; the first link starts about 10 ms
/// sooner. If the host forks while another thread links in process, the child must end with
/// `_exit` or exec, not `exit`: nvJitLink's exit handlers can wait forever for a lock that the
/// thread held at the fork (observed with nvJitLink 13.0).
enum class isolation { in_process, helper };

/// The hosts that can use a shipped layer. `unnamed`: hosts that do not select an nvJitLink
/// (linker_settings::nvjitlink, $FATLINK_NVJITLINK), with any version of nvJitLink and without
/// nvJitLink. `all`: in addition, hosts that select the nvJitLink that made the links; this
/// requires a second entry for each link.
enum class layer_hosts { unnamed, all };

/// The cache key of a link. It covers the digests of the modules in order, target, mode, kind of
/// image, allow_calls, nvJitLink's options including float flags, and `nvjitlink_identity`.
/// driver_cache and require_inlined are not part of the key. Of `threads`, the key contains only
/// whether an lto link uses more than one. `nvjitlink_identity` is nvjitlink_file::identity; it is
/// empty for a shipped link (layer_hosts::unnamed). File names and paths are not part of the key.
cache_key link_key(std::span<fatbin const> inputs, link_options const& options,
                   std::string const& nvjitlink_identity);
/// As above, for the modules of `inputs` that the link uses (select_modules).
/// @throws usage_error, format_error as select_modules.
cache_key link_key(std::vector<input> const& inputs, link_options const& options,
                   std::string const& nvjitlink_identity);

/// How a linker works. Every field has a default.
struct linker_settings {
  fatlink::isolation isolation = isolation::helper;  ///< where nvJitLink runs
  /// Time limit for one link, including the start of the helper and the links that check types;
  /// above 0. Enforced only with isolation::helper.
  std::chrono::milliseconds time_limit = std::chrono::seconds(60);
  /// The cache to search before each link and to store each new link in. Null: no cache. A link
  /// that the cache contains needs neither nvJitLink nor a helper. Links that packages ship are
  /// searched first, unless `nvjitlink` or $FATLINK_NVJITLINK selects an nvJitLink that exists. A
  /// shipped cubin for an older target is accepted if GPUs of the requested target run it
  /// (target::compatible_targets); linked_image::target is then that older target. A cache problem
  /// becomes a warning of the image.
  std::shared_ptr<link_cache> cache = {};
  /// The only libnvJitLink.so.13 to use; empty: the first that nvjitlink::locate finds.
  std::filesystem::path nvjitlink = {};
  /// Whether to link even if the kernel refuses the helper's sandbox (seccomp), with a warning for
  /// each link; otherwise such links fail. Only for isolation::helper.
  bool allow_unconfined = false;
  /// Whether links that no layer of `cache` ships fail (error_code::offline), before nvJitLink or
  /// the helper is searched. The user's folder is not searched, and `nvjitlink` and
  /// $FATLINK_NVJITLINK have no effect. FATLINK_OFFLINE=1 has the same effect on every linker. A
  /// ptx_set is not linked, and is always made.
  bool offline = false;
};

/// Links inputs of every form. Copies share their helpers and their cache.
class linker {
 public:
  /// Does not search for nvJitLink and starts no helper; the first link does.
  /// @throws usage_error `isolation` is not an enumerator, `time_limit` is not above 0, or
  ///   $FATLINK_OFFLINE is neither 0 nor 1.
  explicit linker(linker_settings settings = {});

  /// The settings that were passed to the constructor. @throws usage_error this linker was moved
  /// from.
  [[nodiscard]] linker_settings const& settings() const;

  /// Links `inputs`, the library first. Of archives, it links the modules that select_modules()
  /// returns. In lto mode, it passes the float flags that the inputs record to nvJitLink, so that
  /// lto and ptx mode compute the same results. The same inputs always give the same bytes.
  /// @throws refused_error preflight found an error; the type check found an error
  ///   (signature-mismatch, missing-hook, missing-variable, unchecked-types); or the image lacks a
  ///   requested kernel or variable (unknown-kernel, unknown-variable).
  /// @throws link_error nvJitLink failed (with its code and complete log); the helper died (code
  ///   SIGSEGV, …), exceeded the time limit (ETIMEDOUT) or sent an invalid reply (EPROTO); or
  ///   `require_inlined` is set and a hook is still called (error_code::not_inlined).
  /// @throws format_error an entry of an input is damaged in a way that reading the input did not
  ///   detect.
  /// @throws unavailable_error nvJitLink or the helper is missing, and the cache does not hold the
  ///   link; the kernel refuses the helper's sandbox; offline mode is on, and no layer holds the
  ///   link (error_code::offline); or a ptx_set is requested, and an input holds only SASS
  ///   (error_code::needs_gpu).
  /// @throws usage_error there are no inputs, an input or this linker was moved from, `emit` does
  ///   not fit the mode, a value is not an enumerator, or check_link_options refuses the options.
  linked_image link(std::vector<input> const& inputs, link_options const& options);
  /// As above, for modules; all of them are linked.
  linked_image link(std::span<fatbin const> inputs, link_options const& options);

  /// The findings of the additional links that link() makes after preflight. They check types that
  /// preflight cannot read, and find differing inline functions with the same name. If one of
  /// them is an error, link() throws refused_error. Does not use the cache; `options.emit` has no
  /// effect.
  /// Throws what link() throws; refused_error only if preflight found an error; unavailable_error
  /// in offline mode, always.
  std::vector<finding> check(std::span<fatbin const> inputs, link_options const& options);

  /// Links as link() does, and also writes the result into `layer`, a cache folder to be shipped to
  /// `hosts`. Links that other layers ship are not used.
  /// Throws what link() throws; usage_error `emit` is ptx_set; file_error `layer` cannot be
  /// written; unavailable_error in offline mode, always.
  linked_image link_into(std::filesystem::path const& layer, std::vector<input> const& inputs,
                         link_options const& options, layer_hosts hosts = layer_hosts::all);
  /// As above, for modules; all of them are linked.
  linked_image link_into(std::filesystem::path const& layer, std::span<fatbin const> inputs,
                         link_options const& options, layer_hosts hosts = layer_hosts::all);

 private:
  class FATLINK_PRIVATE session;
  struct FATLINK_PRIVATE state;
  std::shared_ptr<state> state_;  // shared by copies
};

}  // namespace fatlink
