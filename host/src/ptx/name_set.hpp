// SPDX-License-Identifier: Apache-2.0
// A sorted set of names: every look-up takes logarithmic time, also for input that would provoke
// collisions in a hash table. The names are views; their text must outlive the set.
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
