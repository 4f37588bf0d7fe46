// SPDX-License-Identifier: Apache-2.0
// Reports of findings: at most limits::k_findings of one id, and one more that states how many are
// not listed, because a module may have 100,000 symbols. Threads: no shared state.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fatlink/finding.hpp"
#include "util/limits.hpp"

namespace fatlink::detail {

class finding_limit {
 public:
  explicit finding_limit(std::vector<finding>& report) noexcept : report_(report) {}

  /// Adds the finding that `make` returns. `make` is not called for findings that are only counted.
  /// All findings have one id.
  template <typename Make>
  void add(Make const& make)
  {
    if (is_full())
      count_one(make);
    else
      report_.push_back(make());
    ++count_;
  }
  /// Adds the finding that counts those not listed, if there are any.
  void finish();

 private:
  [[nodiscard]] bool is_full() const noexcept;
  template <typename Make>
  void count_one(Make const& make)
  {
    if (!rest_) rest_ = make();
  }

  std::vector<finding>& report_;
  std::optional<finding> rest_ = {};  ///< the first that is not listed
  std::size_t count_ = 0;
};

/// "a, b, c"; after `most` of them "and 2 more".
std::string list_names(std::vector<std::string> const& names,
                       std::size_t most = limits::k_listed_names);

}  // namespace fatlink::detail
