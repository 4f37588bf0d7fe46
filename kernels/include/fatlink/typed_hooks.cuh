// SPDX-License-Identifier: Apache-2.0
// Defines hooks of the sized contracts (combine_4, keep_8, …) for elements of a type: the macros
// below define the extern "C" hook, copy elements bit by bit between the type and the contract's
// bytes, and record the type, so that `fatlink run` reads and writes arrays of it. The copies
// stay in registers and cost nothing.
//
//   struct best { float value; int index; };
//   FATLINK_COMBINE(best, a, b) { return a.value >= b.value ? a : b; }
//
// A type is the name of a trivially copyable type of 1, 2, 4, 8, 16 or 32 bytes, aligned to at most
// 16. If results are compared as bytes, it must have no padding. The name must not contain a comma:
// for an instance of a template, declare an alias with `using`. Use each macro at most once, at
// namespace scope; a body follows it.
//
//   contract      macro                                     the body returns
//   combine       FATLINK_COMBINE(type, a, b)               type
//   load          FATLINK_LOAD(type, from, x)               type; x is an element of the input
//                 FATLINK_LOAD_AT(type, from, in, index)    type; in is the input, a from const*
//   keep          FATLINK_KEEP(type, x)                     bool
//   keep_store    FATLINK_KEEP(type, x)                     bool
//                 FATLINK_STORE(to, type, x)                to: what is written for x
//   less          FATLINK_LESS(type, a, b)                  bool
//   equal         FATLINK_EQUAL(type, a, b)                 bool: whether b is equal to a
//   same_key      FATLINK_SAME_KEY(type, a, b)              bool: whether key b is equal to a;
//                                                           keys may have any size
//   key           FATLINK_KEY(type, x)                      an unsigned integer (sort_keys.cuh)
//   bin           FATLINK_BIN(type, x)                      unsigned: the bin of x
//   part          FATLINK_PART(type, x)                     unsigned: 0, 1, or more for the rest
//   map1          FATLINK_MAP1(to, from, x)                 to
//   map2          FATLINK_MAP2(to, from1, a, from2, b)      to
//   map3          FATLINK_MAP3(to, from1, a, from2, b, from3, c)
//
// by_key has the macros of combine and same_key; load_combine, load_keep, load_bin and load_by_key
// have those of load and of the contract that their names end in. A source defines one or both.
//
// The bodies of LOAD, LOAD_AT, STORE, KEEP, KEY, BIN, PART and MAP may use `state`, a void const*:
// the launch's user data, or null. No hook may synchronize the block or the warp.
#pragma once

#include <cstddef>

#include <fatlink/element.cuh>
#include <fatlink/opaque_element.cuh>
#include <fatlink/sort_keys.cuh>

namespace fatlink_detail {

/// The bits of `from` as a value of type To, which has the same size.
template <typename To, typename From>
__device__ __forceinline__ To copy_bits(From const& from)
{
  return __builtin_bit_cast(To, from);
}

}  // namespace fatlink_detail

// One of these fails where the type has another size than the contract, and names the right one.
#define FATLINK_DETAIL_CHECK_SIZE(contract, type, bytes)                     \
  static_assert(sizeof(type) != (bytes) || FATLINK_ELEMENT_BYTES == (bytes), \
                #type " has " #bytes " bytes: use the contract " #contract "_" #bytes)

#define FATLINK_DETAIL_CHECK_ALIGNMENT(contract, type)     \
  static_assert(alignof(type) <= alignof(fatlink_element), \
                #type " is aligned to more than the elements of the contract " #contract)

#define FATLINK_DETAIL_CHECK_TYPE(contract, type)                                              \
  static_assert(sizeof(type) == 1 || sizeof(type) == 2 || sizeof(type) == 4 ||                 \
                    sizeof(type) == 8 || sizeof(type) == 16 || sizeof(type) == 32,             \
                #type " has a size without a contract: pad it to 1, 2, 4, 8, 16 or 32 bytes"); \
  FATLINK_DETAIL_CHECK_SIZE(contract, type, 1);                                                \
  FATLINK_DETAIL_CHECK_SIZE(contract, type, 2);                                                \
  FATLINK_DETAIL_CHECK_SIZE(contract, type, 4);                                                \
  FATLINK_DETAIL_CHECK_SIZE(contract, type, 8);                                                \
  FATLINK_DETAIL_CHECK_SIZE(contract, type, 16);                                               \
  FATLINK_DETAIL_CHECK_SIZE(contract, type, 32);                                               \
  FATLINK_DETAIL_CHECK_ALIGNMENT(contract, type)

// The contract of a hook, without its size. A contract with several hooks defines FATLINK_CONTRACT;
// a contract with one hook has the hook's name.
#ifdef FATLINK_CONTRACT
#define FATLINK_DETAIL_CONTRACT(hook) FATLINK_CONTRACT
#else
#define FATLINK_DETAIL_CONTRACT(hook) hook
#endif

/// Checks that the contract has the size of `type`, and records the type for `hook`.
#define FATLINK_DETAIL_ELEMENT_OF(hook, type)                     \
  FATLINK_DETAIL_CHECK_TYPE(FATLINK_DETAIL_CONTRACT(hook), type); \
  FATLINK_ELEMENT(hook, type)

#define FATLINK_COMBINE(type, a, b)                                                             \
  FATLINK_DETAIL_ELEMENT_OF(combine, type);                                                     \
  static __device__ __forceinline__ type fatlink_combine(type a, type b);                       \
  extern "C" __device__ fatlink_element combine(fatlink_element a, fatlink_element b)           \
  {                                                                                             \
    using fatlink_detail::copy_bits;                                                            \
    return copy_bits<fatlink_element>(fatlink_combine(copy_bits<type>(a), copy_bits<type>(b))); \
  }                                                                                             \
  static __device__ __forceinline__ type fatlink_combine(type a, type b)

/// A hook of two elements: `bool hook(fatlink_element, fatlink_element)`.
#define FATLINK_DETAIL_RELATION(hook, type, a, b)                        \
  FATLINK_DETAIL_ELEMENT_OF(hook, type);                                 \
  static __device__ __forceinline__ bool fatlink_##hook(type a, type b); \
  extern "C" __device__ bool hook(fatlink_element a, fatlink_element b)  \
  {                                                                      \
    using fatlink_detail::copy_bits;                                     \
    return fatlink_##hook(copy_bits<type>(a), copy_bits<type>(b));       \
  }                                                                      \
  static __device__ __forceinline__ bool fatlink_##hook(type a, type b)

#define FATLINK_LESS(type, a, b) FATLINK_DETAIL_RELATION(less, type, a, b)
#define FATLINK_EQUAL(type, a, b) FATLINK_DETAIL_RELATION(equal, type, a, b)

// The names of the parameters are not those that a type of keys may have.
#define FATLINK_SAME_KEY(type, a, b)                                                        \
  FATLINK_ELEMENT(same_key, type);                                                          \
  static __device__ __forceinline__ bool fatlink_same_key(type a, type b);                  \
  extern "C" __device__ bool same_key(void const* fatlink_keys, std::size_t fatlink_index)  \
  {                                                                                         \
    auto const* const fatlink_key = static_cast<type const*>(fatlink_keys) + fatlink_index; \
    return fatlink_same_key(fatlink_key[-1], fatlink_key[0]);                               \
  }                                                                                         \
  extern "C" __device__ void copy_key(void* fatlink_out, std::size_t fatlink_place,         \
                                      void const* fatlink_keys, std::size_t fatlink_index)  \
  {                                                                                         \
    static_cast<type*>(fatlink_out)[fatlink_place] =                                        \
        static_cast<type const*>(fatlink_keys)[fatlink_index];                              \
  }                                                                                         \
  static __device__ __forceinline__ bool fatlink_same_key(type a, type b)

/// A hook of one element and the state: `result hook(fatlink_element, void const*)`.
#define FATLINK_DETAIL_UNARY(result, hook, type, x)                                   \
  FATLINK_DETAIL_ELEMENT_OF(hook, type);                                              \
  static __device__ __forceinline__ result fatlink_##hook(type x, void const* state); \
  extern "C" __device__ result hook(fatlink_element x, void const* state)             \
  {                                                                                   \
    return fatlink_##hook(fatlink_detail::copy_bits<type>(x), state);                 \
  }                                                                                   \
  static __device__ __forceinline__ result fatlink_##hook(type x,                     \
                                                          [[maybe_unused]] void const* state)

#define FATLINK_KEEP(type, x) FATLINK_DETAIL_UNARY(bool, keep, type, x)
#define FATLINK_BIN(type, x) FATLINK_DETAIL_UNARY(unsigned, bin, type, x)
#define FATLINK_PART(type, x) FATLINK_DETAIL_UNARY(unsigned, part, type, x)

#define FATLINK_KEY(type, x)                                                                      \
  FATLINK_DETAIL_ELEMENT_OF(key, type);                                                           \
  static __device__ __forceinline__ fatlink::detail::unsigned_key fatlink_key(type x,             \
                                                                              void const* state); \
  extern "C" __device__ unsigned long long key(fatlink_element x, void const* state)              \
  {                                                                                               \
    return fatlink_key(fatlink_detail::copy_bits<type>(x), state);                                \
  }                                                                                               \
  static __device__ __forceinline__ fatlink::detail::unsigned_key fatlink_key(                    \
      type x, [[maybe_unused]] void const* state)

/// Records what `load` reads, and what it returns.
#define FATLINK_DETAIL_LOAD_OF(type, from)                        \
  FATLINK_DETAIL_CHECK_TYPE(FATLINK_DETAIL_CONTRACT(load), type); \
  FATLINK_ELEMENT(load, from);                                    \
  FATLINK_ELEMENT(load_out, type)

#define FATLINK_LOAD(type, from, x)                                                                \
  FATLINK_DETAIL_LOAD_OF(type, from);                                                              \
  static __device__ __forceinline__ type fatlink_load(from x, void const* state);                  \
  extern "C" __device__ fatlink_element load(void const* in, std::size_t index, void const* state) \
  {                                                                                                \
    auto const x = static_cast<from const*>(in)[index];                                            \
    return fatlink_detail::copy_bits<fatlink_element>(fatlink_load(x, state));                     \
  }                                                                                                \
  static __device__ __forceinline__ type fatlink_load(from x, [[maybe_unused]] void const* state)

#define FATLINK_LOAD_AT(type, from, in, index)                                                  \
  FATLINK_DETAIL_LOAD_OF(type, from);                                                           \
  static __device__ __forceinline__ type fatlink_load(from const* in, std::size_t index,        \
                                                      void const* state);                       \
  extern "C" __device__ fatlink_element load(void const* fatlink_in, std::size_t fatlink_index, \
                                             void const* fatlink_state)                         \
  {                                                                                             \
    auto const fatlink_value =                                                                  \
        fatlink_load(static_cast<from const*>(fatlink_in), fatlink_index, fatlink_state);       \
    return fatlink_detail::copy_bits<fatlink_element>(fatlink_value);                           \
  }                                                                                             \
  static __device__ __forceinline__ type fatlink_load([[maybe_unused]] from const* in,          \
                                                      [[maybe_unused]] std::size_t index,       \
                                                      [[maybe_unused]] void const* state)

#define FATLINK_STORE(to, type, x)                                                           \
  FATLINK_ELEMENT(store, to);                                                                \
  static __device__ __forceinline__ to fatlink_store(type x, void const* state);             \
  extern "C" __device__ void store(void* out, std::size_t index, fatlink_element x,          \
                                   void const* state)                                        \
  {                                                                                          \
    static_cast<to*>(out)[index] = fatlink_store(fatlink_detail::copy_bits<type>(x), state); \
  }                                                                                          \
  static __device__ __forceinline__ to fatlink_store(type x, [[maybe_unused]] void const* state)

#define FATLINK_MAP1(to, from, x)                                                           \
  FATLINK_ELEMENT(map_element, to);                                                         \
  FATLINK_ELEMENT(map_element_in, from);                                                    \
  static __device__ __forceinline__ to fatlink_map(from x, void const* state);              \
  extern "C" __device__ void map_element(void* out, void const* in, std::size_t index,      \
                                         void const* state)                                 \
  {                                                                                         \
    static_cast<to*>(out)[index] = fatlink_map(static_cast<from const*>(in)[index], state); \
  }                                                                                         \
  static __device__ __forceinline__ to fatlink_map(from x, [[maybe_unused]] void const* state)

#define FATLINK_MAP2(to, from1, a, from2, b)                                                  \
  FATLINK_ELEMENT(map_element, to);                                                           \
  FATLINK_ELEMENT(map_element_in1, from1);                                                    \
  FATLINK_ELEMENT(map_element_in2, from2);                                                    \
  static __device__ __forceinline__ to fatlink_map(from1 a, from2 b, void const* state);      \
  extern "C" __device__ void map_element(void* out, void const* in1, void const* in2,         \
                                         std::size_t index, void const* state)                \
  {                                                                                           \
    static_cast<to*>(out)[index] = fatlink_map(static_cast<from1 const*>(in1)[index],         \
                                               static_cast<from2 const*>(in2)[index], state); \
  }                                                                                           \
  static __device__ __forceinline__ to fatlink_map(from1 a, from2 b,                          \
                                                   [[maybe_unused]] void const* state)

#define FATLINK_MAP3(to, from1, a, from2, b, from3, c)                                            \
  FATLINK_ELEMENT(map_element, to);                                                               \
  FATLINK_ELEMENT(map_element_in1, from1);                                                        \
  FATLINK_ELEMENT(map_element_in2, from2);                                                        \
  FATLINK_ELEMENT(map_element_in3, from3);                                                        \
  static __device__ __forceinline__ to fatlink_map(from1 a, from2 b, from3 c, void const* state); \
  extern "C" __device__ void map_element(void* out, void const* in1, void const* in2,             \
                                         void const* in3, std::size_t index, void const* state)   \
  {                                                                                               \
    static_cast<to*>(out)[index] =                                                                \
        fatlink_map(static_cast<from1 const*>(in1)[index], static_cast<from2 const*>(in2)[index], \
                    static_cast<from3 const*>(in3)[index], state);                                \
  }                                                                                               \
  static __device__ __forceinline__ to fatlink_map(from1 a, from2 b, from3 c,                     \
                                                   [[maybe_unused]] void const* state)
