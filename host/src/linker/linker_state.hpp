// SPDX-License-Identifier: Apache-2.0
// The state that the copies of a linker share. Threads: safe.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "fatlink/linker.hpp"
#include "fatlink/nvjitlink.hpp"
#include "link_helper/helper_pool.hpp"
#include "util/process/fork_guard.hpp"

namespace fatlink::detail {

struct linker_state {
  explicit linker_state(linker_settings user_settings);

  /// The file of the nvJitLink that would link; empty fields if there is none.
  nvjitlink_file locate_nvjitlink();
  /// nvJitLink, opened in this process. @throws unavailable_error
  std::shared_ptr<nvjitlink const> open_nvjitlink();
  /// Whether links run only in the sandbox. Links made outside of it have cache keys of their own,
  /// so that they are never served to a linker that requires the sandbox.
  [[nodiscard]] bool is_confined() const noexcept
  {
    return settings.isolation == isolation::helper && !settings.allow_unconfined;
  }
  /// Whether links that a package ships may be used, whatever nvJitLink made them: not where the
  /// caller or $FATLINK_NVJITLINK names an nvJitLink that can be used.
  [[nodiscard]] bool may_use_shipped();
  /// Makes locate_nvjitlink() search again.
  void forget_file();

  linker_settings const settings;
  std::shared_ptr<helper_pool> helpers;  ///< null: links in this process

 private:
  std::mutex mutex_;                            ///< guards nvjitlink_ and file_
  std::shared_ptr<nvjitlink const> nvjitlink_;  ///< null: not opened
  std::optional<nvjitlink_file> file_;
  fork_guard fork_guard_{fork_order::linker, mutex_};
};

}  // namespace fatlink::detail
