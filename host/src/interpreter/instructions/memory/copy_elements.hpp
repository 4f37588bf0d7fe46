// SPDX-License-Identifier: Apache-2.0
// Copies an element of each lane between memory of the device and a register, by vectors.
#pragma once

#include <cstddef>

#include "interpreter/decode/operation.hpp"
#include "interpreter/execution/cpu_level.hpp"

namespace fatlink::interpreter {

/// Whether elements that follow each other may be copied by vectors: x86-64 loads and stores each
/// aligned element of a vector in one piece, so this is as atomic as load_element(). The thread
/// sanitizer cannot know that.
#if defined(__SANITIZE_THREAD__)
constexpr bool k_copies_vectors = false;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool k_copies_vectors = false;
#else
constexpr bool k_copies_vectors = k_is_x86_64;
#endif
#else
constexpr bool k_copies_vectors = k_is_x86_64;
#endif

typedef long long unaligned_vector __attribute__((vector_size(16), may_alias, aligned(1)));

[[gnu::always_inline]] inline unaligned_vector load_vector(std::byte const* source) noexcept
{
  return *reinterpret_cast<unaligned_vector const volatile*>(source);
}

[[gnu::always_inline]] inline void store_vector(std::byte* target, unaligned_vector value) noexcept
{
  *reinterpret_cast<unaligned_vector volatile*>(target) = value;
}

/// Copies one element of each lane.
template <std::size_t Size>
[[gnu::always_inline]] inline void copy_elements(std::byte* target, std::byte const* source)
{
  constexpr auto k_vectors = k_lanes * Size / sizeof(unaligned_vector);
  unaligned_vector values[k_vectors];
  for (std::size_t i = 0; i < k_vectors; ++i)
    values[i] = load_vector(source + i * sizeof values[i]);
  for (std::size_t i = 0; i < k_vectors; ++i)
    store_vector(target + i * sizeof values[i], values[i]);
}

}  // namespace fatlink::interpreter
