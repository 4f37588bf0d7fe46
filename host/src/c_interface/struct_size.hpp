// SPDX-License-Identifier: Apache-2.0
// The structs of the C interface, which begin with their size: callers may be compiled with older
// or newer headers than the library. Units: bytes. Threads: no shared state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "c_interface/guard.hpp"
#include "fatlink/c/plan.h"

namespace fatlink::c {

/// The size of a struct in version 1.0 of the interface; to be specialized with that number when a
/// member is added. first_sizes.cpp has the numbers.
template <typename Struct>
constexpr std::size_t k_first_size = sizeof(Struct);
template <>
constexpr inline std::size_t k_first_size<fatlink_image_info> = 56;
template <>
constexpr inline std::size_t k_first_size<fatlink_plan_request> = 40;
template <>
constexpr inline std::size_t k_first_size<fatlink_link_options> = 128;

/// @throws usage_error `size` is that of no version of a struct whose first one had `first` bytes:
/// it was not set.
void check_size(std::size_t size, std::size_t first, char const* parameter);

/// @throws usage_error one of the `size` bytes at `given`, from `known` on, is not 0.
void check_unknown_members(void const* given, std::size_t size, std::size_t known,
                           char const* parameter);

/// @throws usage_error `value` is not 0: later versions may give it a meaning.
void check_reserved(std::int32_t value, char const* parameter);

/// A copy of the struct of `size` bytes at `given`; members that it does not have are 0.
/// @throws usage_error as check_size, check_unknown_members and check_reserved.
template <typename Struct>
Struct read_struct(void const* given, std::size_t size, char const* parameter)
{
  static_assert(std::is_trivially_copyable_v<Struct>);
  check_size(size, k_first_size<Struct>, parameter);
  check_unknown_members(given, size, sizeof(Struct), parameter);
  Struct result = {};
  std::memcpy(&result, given, std::min(size, sizeof(Struct)));
  if constexpr (requires { result.reserved; }) check_reserved(result.reserved, parameter);
  return result;
}

/// A copy of `*given`. @throws usage_error also where `given` is NULL.
template <typename Struct>
Struct required_struct(Struct const* given, char const* parameter)
{
  return read_struct<Struct>(given, required(given, parameter).size, parameter);
}

/// A copy of `*given`; all members are 0 where `given` is NULL.
template <typename Struct>
Struct optional_struct(Struct const* given, char const* parameter)
{
  return given == nullptr ? Struct{} : required_struct(given, parameter);
}

}  // namespace fatlink::c
