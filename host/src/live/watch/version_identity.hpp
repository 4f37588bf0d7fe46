// SPDX-License-Identifier: Apache-2.0
// What tells one version of watched files from another. Threads: no shared state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "live/watch/complete_file.hpp"

namespace fatlink::detail {

class version_identity {
 public:
  version_identity() = default;
  /// Of files with any sidecars.
  explicit version_identity(std::vector<input> const& inputs);
  explicit version_identity(std::vector<complete_file> const& files);

  /// Whether `files` is the version.
  [[nodiscard]] bool is(std::vector<complete_file> const& files) const;

 private:
  struct file {
    digest256 digest = {};
    std::optional<std::string> sidecar = {};  ///< nothing: any
  };
  std::vector<file> files_ = {};
};

}  // namespace fatlink::detail
