// SPDX-License-Identifier: Apache-2.0
// What the copies of one linker share.
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
  explicit linker_state(linker_options given);

  /// The file of the nvJitLink that would link; where there is none, empty.
  nvjitlink_file located();
  /// nvJitLink in this process. @throws unavailable_error
  std::shared_ptr<nvjitlink const> opened();
  /// Whether links run in the sandbox, or not at all. What others make is kept under keys of its
  /// own, so that it is never served to a linker that asked for the sandbox.
  [[nodiscard]] bool is_confined() const noexcept
  {
    return options.isolation == isolation::helper && !options.allow_unconfined;
  }
  /// Makes located() search again.
  void forget_file();

  linker_options options;
  std::shared_ptr<nvjitlink const> library;  ///< null: not opened
  std::shared_ptr<helper_pool> helpers;      ///< null: links in this process

 private:
  std::mutex mutex_;  ///< of library and file_, which are found late
  std::optional<nvjitlink_file> file_;
  fork_guard fork_guard_{fork_order::linker, mutex_};
};

}  // namespace fatlink::detail
