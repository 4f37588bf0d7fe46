// SPDX-License-Identifier: Apache-2.0
// Records the type of the elements that a hook reads or writes, for hooks that see elements as
// bytes (void const*, or a struct of a size). fatlink_add_fatbin and `fatlink compile` put its
// name, size and alignment into the ident of the fatbin, so that `fatlink run` reads and writes
// arrays of this type and refuses others. The record costs nothing: no link keeps it.
//
//   #include <fatlink/element.cuh>
//   FATLINK_ELEMENT(load_element, __half);
//   extern "C" __device__ float load_element(void const* in, std::size_t index, void const*)
//   { return static_cast<__half const*>(in)[index]; }
//
// Headers of libraries build their own macros on it: FATLINK_SIZED_ELEMENT also checks the size
// that a contract states.
#pragma once

/// Records that `hook` handles elements of the type that follows. Once for each hook, at namespace
/// scope, before or after the hook. A type that is not trivially copyable does not compile.
#define FATLINK_ELEMENT(hook, ...)                                                         \
  namespace fatlink_elements {                                                             \
  static_assert(__is_trivially_copyable(__VA_ARGS__),                                      \
                "the elements of " #hook " are copied as bytes: " #__VA_ARGS__             \
                " must be trivially copyable");                                            \
  template <typename Element, unsigned long long Size, unsigned long long Alignment>       \
  __device__ void hook()                                                                   \
  {                                                                                        \
  }                                                                                        \
  template __device__ void hook<__VA_ARGS__, sizeof(__VA_ARGS__), alignof(__VA_ARGS__)>(); \
  }                                                                                        \
  namespace fatlink_element_types {                                                        \
  using hook = __VA_ARGS__; /* for checks of its members */                                \
  }                                                                                        \
  static_assert(true, "")

/// As FATLINK_ELEMENT, for a contract whose elements have `size` bytes, aligned to at most `size`
/// and to at most 16 bytes.
#define FATLINK_SIZED_ELEMENT(hook, size, ...)                                                    \
  static_assert(sizeof(__VA_ARGS__) == (size),                                                    \
                #hook " takes elements of " #size " bytes: " #__VA_ARGS__ " has another size");   \
  static_assert(alignof(__VA_ARGS__) <= (size) && alignof(__VA_ARGS__) <= 16,                     \
                #hook ": the alignment of " #__VA_ARGS__ " is above its size or above 16 bytes"); \
  FATLINK_ELEMENT(hook, __VA_ARGS__)
