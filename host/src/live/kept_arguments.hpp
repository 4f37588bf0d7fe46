// SPDX-License-Identifier: Apache-2.0
// The arguments of a bound call, for later versions: their names and values belong to the caller
// only until the call is bound. Threads: immutable.
#pragma once

#include <cstddef>
#include <list>
#include <span>
#include <string>
#include <vector>

#include "fatlink/plan_call.hpp"
#include "fatlink/prepare.hpp"

namespace fatlink::detail {

class kept_arguments {
 public:
  explicit kept_arguments(std::span<call_argument const> arguments);
  kept_arguments(kept_arguments const&) = delete;
  kept_arguments& operator=(kept_arguments const&) = delete;

  [[nodiscard]] std::span<call_argument const> get() const noexcept { return arguments_; }

 private:
  std::list<std::string> names_;
  std::list<std::vector<std::byte>> values_;  ///< those that arguments do not hold themselves
  std::vector<call_argument> arguments_;
};

/// A bound call, to be bound to later versions.
struct kept_call {
  kept_call(std::span<call_argument const> call_arguments, scratch_memory const& memory)
      : arguments(call_arguments), scratch(memory)
  {
  }
  kept_arguments arguments;
  scratch_memory scratch;
};

}  // namespace fatlink::detail
