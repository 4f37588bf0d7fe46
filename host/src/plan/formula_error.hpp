// SPDX-License-Identifier: Apache-2.0
// What is wrong with a formula or a computation of a plan, without the place of it: callers add the
// file and the path within the JSON. Never leaves the library.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace fatlink::detail {

class formula_error : public std::runtime_error {
 public:
  formula_error(std::string const& cause, std::string hint)
      : std::runtime_error(cause), hint_(std::move(hint))
  {
  }

  /// The remedy.
  [[nodiscard]] std::string const& hint() const noexcept { return hint_; }

 private:
  std::string hint_;
};

}  // namespace fatlink::detail
