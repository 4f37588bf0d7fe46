// SPDX-License-Identifier: Apache-2.0
// Names to look up, sorted: no input makes a look-up take more than logarithmic time, as one that
// provokes collisions would of a hash table. The names are views, which must outlive the set.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "fatlink/ptx_interface.hpp"

namespace fatlink::detail {

class name_set {
 public:
  name_set() = default;
  explicit name_set(std::vector<std::string_view> names) : names_(std::move(names))
  {
    std::sort(names_.begin(), names_.end());
  }
  explicit name_set(std::vector<ptx_function> const& functions)
  {
    for (auto const& function : functions) names_.push_back(function.name);
    std::sort(names_.begin(), names_.end());
  }

  [[nodiscard]] bool contains(std::string_view name) const
  {
    return std::binary_search(names_.begin(), names_.end(), name);
  }
  [[nodiscard]] bool empty() const noexcept { return names_.empty(); }

 private:
  std::vector<std::string_view> names_;
};

}  // namespace fatlink::detail
