// SPDX-License-Identifier: Apache-2.0
// The arguments of a plan's call as the C interface states them. Up to k_inline_arguments take no
// memory of the heap. Units: bytes. Threads: no shared state.
#pragma once

#include <array>
#include <cstddef>
#include <memory_resource>
#include <span>
#include <vector>

#include "c_interface/array_exchange.hpp"
#include "fatlink/c/plan.h"
#include "fatlink/launch_plan.hpp"
#include "fatlink/plan_call.hpp"

namespace fatlink::c {

/// Whether the type of one of the values is not stated, and has to be found in the plan.
/// @throws usage_error the list is NULL, and `count` is not 0; or the sizes of the structs are
///   malformed.
bool has_unstated_value(fatlink_argument const* arguments, std::size_t count);

/// Refers to names and values of the caller.
class argument_list {
 public:
  /// `plan`: for values whose type is not stated; null if there are none.
  /// @throws usage_error as has_unstated_value, or an argument is malformed.
  argument_list(fatlink_argument const* arguments, std::size_t count, launch_plan const* plan);
  /// `objects[i]`, where it is not null, is the array for arguments[i].
  /// @throws usage_error also as array_exchange::read.
  argument_list(fatlink_argument const* arguments, std::size_t count, launch_plan const* plan,
                array_exchange& exchange, void* const* objects);
  argument_list(argument_list const&) = delete;
  argument_list& operator=(argument_list const&) = delete;

  [[nodiscard]] std::span<call_argument const> span() const noexcept { return arguments_; }

 private:
  void add(fatlink_argument const& argument, launch_plan const* plan);

  static constexpr std::size_t k_inline_arguments = 16;

  alignas(call_argument) std::array<std::byte, k_inline_arguments * sizeof(call_argument)> buffer_;
  std::pmr::monotonic_buffer_resource memory_{buffer_.data(), buffer_.size()};
  std::pmr::vector<call_argument> arguments_{&memory_};
};

}  // namespace fatlink::c
