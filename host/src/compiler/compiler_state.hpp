// SPDX-License-Identifier: Apache-2.0
// What the copies of a compiler share: the files of the compilers, and what the identity of such a
// file states (library_file::identity). Threads: safe.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "fatlink/cache.hpp"
#include "fatlink/compiler.hpp"
#include "fatlink/library_file.hpp"
#include "link_helper/helper_pool.hpp"
#include "toolkit/toolkit_library.hpp"
#include "util/process/fork_guard.hpp"

namespace fatlink::detail {

struct compiler_state {
  explicit compiler_state(compiler_settings user_settings);

  /// The file of the compiler for `language`; empty fields if there is none.
  library_file locate(source_language language);
  /// Searches that file again at the next locate: it was replaced.
  void forget(source_language language);

  compiler_settings const settings;
  bool const is_offline;  ///< whether only compiles of layers are used
  std::shared_ptr<helper_pool> const helpers = helper_pool::shared();

 private:
  std::mutex mutex_;  ///< guards the files
  std::optional<library_file> nvrtc_;
  std::optional<library_file> libnvvm_;
  fork_guard fork_guard_{fork_order::linker, mutex_};
};

/// So that a compile that the cache holds opens no compiler. The key is what stat states of the
/// file: device, inode, size, and the times (ns) of the last changes of its content and of its
/// status; a program can set the first of them, not the second. A file that changed in the last two
/// seconds is read each time: it could change again within the resolution of these times. Reads
/// identities as library_identity does, from `cache` where it holds them; null: always from the
/// file.
identity_reader remembering_reader(std::shared_ptr<link_cache> const& cache);

/// "13.0" of "13.0 65be0db3… 109338064"; "2.?" of libNVVM, which states no version.
std::string version_of(std::string const& identity);

/// Whether `version` is complete.
bool is_known(std::string const& version);

/// "NVRTC 13.0", or "libNVVM".
std::string title_of(char const* compiler, std::string const& version);

/// Whether the NVRTC with `identity` brings CUDA's headers, as 13.3 and newer do.
bool brings_headers(std::string const& identity);

}  // namespace fatlink::detail
