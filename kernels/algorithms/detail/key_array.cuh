// SPDX-License-Identifier: Apache-2.0
// Arrays of keys with values.
#pragma once

#include <cstddef>

namespace fatlink_algorithms {

/// The type of values where only keys are sorted.
struct no_value {};
template <typename Value>
inline constexpr bool is_no_value = false;
template <>
inline constexpr bool is_no_value<no_value> = true;
template <>
inline constexpr bool is_no_value<no_value const> = true;

template <typename Key, typename Value>
struct key_array {
  Key* keys;
  Value* values;  // null if Value is no_value

  /// The elements from index `first` on.
  __device__ __forceinline__ key_array from(std::size_t first) const
  {
    return {keys + first, is_no_value<Value> ? values : values + first};
  }
};

}  // namespace fatlink_algorithms
