// SPDX-License-Identifier: Apache-2.0
// What tells one version of watched files from another. Threads: no shared state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fatlink/input.hpp"

namespace fatlink::detail {

class version_identity {
 public:
  version_identity() = default;
  /// Of files with these or with any sidecars.
  enum class sidecars { these, any };
  version_identity(std::vector<input> const& files, sidecars use);

  /// Whether `files` is the version.
  [[nodiscard]] bool is(std::vector<input> const& files) const;

 private:
  struct file {
    digest256 digest = {};
    std::optional<std::string> sidecar = {};  ///< nothing: any
  };
  std::vector<file> files_ = {};
};

}  // namespace fatlink::detail
