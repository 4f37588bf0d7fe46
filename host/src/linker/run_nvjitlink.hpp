// SPDX-License-Identifier: Apache-2.0
// The part of a link that needs nvJitLink, in the helper or in this process, including the
// additional links that check what preflight cannot read; and the state that the
// copies of a linker share.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "fatlink/linker.hpp"
#include "fatlink/nvjitlink.hpp"
#include "link_helper/helper_pool.hpp"
#include "toolkit/link_in_process.hpp"
#include "util/process/fork_guard.hpp"

namespace fatlink::detail {

/// Threads: safe.
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
  /// Whether only links of layers are used. Determined when the linker is made.
  [[nodiscard]] bool is_offline() const noexcept { return is_offline_; }
  /// Makes locate_nvjitlink() search again.
  void forget_file();

  linker_settings const settings;
  std::shared_ptr<helper_pool> helpers;  ///< null: links in this process

 private:
  bool const is_offline_;
  std::mutex mutex_;                            ///< guards nvjitlink_ and file_
  std::shared_ptr<nvjitlink const> nvjitlink_;  ///< null: not opened
  std::optional<nvjitlink_file> file_;
  fork_guard fork_guard_{fork_order::linker, mutex_};
};

struct nvjitlink_run {
  link_product product;
  std::string identity;               ///< of the nvJitLink that linked; empty: unknown
  double open_ms = 0;                 ///< time to open nvJitLink or start the helper
  std::vector<std::string> warnings;  ///< about the helper, not about the product
};

/// Links `inputs`, which passed preflight. `file`: the nvJitLink that was located; empty: searches.
/// @throws what linker::link throws.
nvjitlink_run run_nvjitlink(linker_state& linker, std::vector<fatbin> const& inputs,
                            link_options const& options, nvjitlink_file const& file);

/// What link() finds by additional links before it links `inputs`, which passed preflight.
/// @throws what linker::link throws.
std::vector<finding> check_with_nvjitlink(linker_state& linker, std::vector<fatbin> const& inputs,
                                          link_options const& options, nvjitlink_file const& file);

/// The text of a warning in linked_image::warnings.
std::string describe_warning(finding const& warning);

/// Whether `findings` contain an error, which stops a link.
bool has_error(std::vector<finding> const& findings);

}  // namespace fatlink::detail
