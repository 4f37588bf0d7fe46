// SPDX-License-Identifier: Apache-2.0
// The state that the copies of a compiler share. Threads: safe.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "fatlink/compiler.hpp"
#include "fatlink/library_file.hpp"
#include "link_helper/helper_pool.hpp"
#include "util/process/fork_guard.hpp"

namespace fatlink::detail {

struct compiler_state {
  explicit compiler_state(compiler_settings user_settings);

  /// The file of the compiler for `language`; empty fields if there is none.
  library_file locate(source_language language);
  /// Searches that file again at the next locate: it was replaced.
  void forget(source_language language);

  compiler_settings const settings;
  std::shared_ptr<helper_pool> const helpers = helper_pool::shared();

 private:
  std::mutex mutex_;  ///< guards the files
  std::optional<library_file> nvrtc_;
  std::optional<library_file> libnvvm_;
  fork_guard fork_guard_{fork_order::linker, mutex_};
};

}  // namespace fatlink::detail
