// SPDX-License-Identifier: Apache-2.0
// Compares the arguments of a call with those of its plan. Each function throws usage_error that
// names the argument, what is expected and what is given. Units: elements. Threads: no shared
// state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fatlink/launch_plan.hpp"
#include "fatlink/plan_call.hpp"

namespace fatlink::detail {

/// @throws usage_error "argument NAME CAUSE".
[[noreturn]] void fail_argument(std::string_view name, std::string const& cause, std::string hint);
[[noreturn]] void fail_unknown_argument(launch_plan const& plan, std::string_view name);
[[noreturn]] void fail_missing_argument(launch_plan const& plan, plan_argument const& argument);

/// The whole number that is given, in the range of the argument's type.
std::int64_t integer_of(plan_argument const& argument, call_argument const& given);

/// A value that is no integer: its type, or for bytes and structs its size.
void check_value_argument(plan_argument const& argument, call_argument const& given);

/// An array or a state: the type of its elements and its alignment.
void check_array_argument(plan_argument const& argument, call_argument const& given);

/// An array of at least `count` elements, not at the null address.
void check_array_size(plan_argument const& argument, call_argument const& given, std::size_t count);

/// An array or a state in a device's memory.
struct array_place {
  device_address address = 0;
  std::size_t bytes = 0;
};

/// Two arrays are disjoint, or are the same where the plan allows it.
void check_overlap(plan_argument const& output, array_place const& output_place,
                   plan_argument const& other, array_place const& other_place);

/// The start of scratch memory, and of each array in it, is a multiple of this; cudaMalloc's is.
constexpr std::size_t k_scratch_alignment = 256;  // bytes

/// `bytes` of the caller's memory for scratch arrays that take `needed` bytes.
void check_scratch(device_address address, std::size_t bytes, std::size_t needed);

/// Scratch memory shares nothing with an array or a state.
void check_scratch_overlap(array_place const& scratch, plan_argument const& argument,
                           array_place const& place);

}  // namespace fatlink::detail
