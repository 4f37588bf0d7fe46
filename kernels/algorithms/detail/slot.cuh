// SPDX-License-Identifier: Apache-2.0
// A value that one thread publishes once and others wait for, in global memory that is zero before.
// Values of up to 8 bytes travel in one atomic access together with the flag that says that they
// are there, so neither side needs a fence; larger ones have fences.
#pragma once

#include <cstring>

namespace fatlink_algorithms {

__device__ __forceinline__ unsigned long long load_relaxed(unsigned long long const* address)
{
  unsigned long long word;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
               : "=l"(word)
               : "l"(__cvta_generic_to_global(address))
               : "memory");
  return word;
}

__device__ __forceinline__ void store_relaxed(unsigned long long* address, unsigned long long word)
{
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(address)),
               "l"(word)
               : "memory");
}

__device__ __forceinline__ unsigned load_relaxed(unsigned const* address)
{
  unsigned word;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
               : "=r"(word)
               : "l"(__cvta_generic_to_global(address))
               : "memory");
  return word;
}

__device__ __forceinline__ void store_relaxed(unsigned* address, unsigned word)
{
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(address)),
               "r"(word)
               : "memory");
}

/// A number below 2^63.
struct tile_count {
  unsigned long long value;
};

struct add_counts {
  __device__ tile_count operator()(tile_count a, tile_count b) const { return {a.value + b.value}; }
};

/// Two numbers below 2^63.
struct tile_counts {
  unsigned long long first;
  unsigned long long second;
};

/// Values of more than 8 bytes.
template <typename Value, unsigned Bytes = sizeof(Value)>
class slot {
 public:
  __device__ __forceinline__ void publish(Value const& value)
  {
    value_ = value;
    __threadfence();
    store_relaxed(&flag_, 1);
  }
  /// Whether `value` was published, and has been read.
  __device__ __forceinline__ bool read(Value& value) const
  {
    if (load_relaxed(&flag_) == 0) return false;
    __threadfence();
    value = value_;
    return true;
  }

 private:
  alignas(16) Value value_;
  alignas(16) unsigned long long flag_;
};

/// A 32-bit value in the lower half of a word, the flag above it.
template <typename Value>
class small_slot {
 public:
  __device__ __forceinline__ void publish(Value const& value)
  {
    unsigned bits = 0;
    memcpy(&bits, &value, sizeof(Value));
    store_relaxed(&word_, 1ULL << 32U | bits);
  }
  __device__ __forceinline__ bool read(Value& value) const
  {
    auto const word = load_relaxed(&word_);
    auto const bits = static_cast<unsigned>(word);
    memcpy(&value, &bits, sizeof(Value));
    return word >> 32U != 0;
  }

 private:
  unsigned long long word_;
};

template <typename Value>
class slot<Value, 1> : public small_slot<Value> {
};
template <typename Value>
class slot<Value, 2> : public small_slot<Value> {
};
template <typename Value>
class slot<Value, 4> : public small_slot<Value> {
};

/// An access of 128 bits, which is atomic from sm_70 on (PTX 8.3).
template <typename Value>
class slot<Value, 8> {
 public:
  __device__ __forceinline__ void publish(Value const& value)
  {
    unsigned long long bits;
    memcpy(&bits, &value, sizeof(Value));
    asm volatile(
        "{ .reg .b128 quad; mov.b128 quad, {%1, %2}; st.relaxed.gpu.global.b128 [%0], quad; }" ::
            "l"(__cvta_generic_to_global(words_)),
        "l"(bits), "l"(1ULL)
        : "memory");
  }
  __device__ __forceinline__ bool read(Value& value) const
  {
    unsigned long long bits;
    unsigned long long flag;
    asm volatile(
        "{ .reg .b128 quad; ld.relaxed.gpu.global.b128 quad, [%2]; mov.b128 {%0, %1}, quad; }"
        : "=l"(bits), "=l"(flag)
        : "l"(__cvta_generic_to_global(words_))
        : "memory");
    memcpy(&value, &bits, sizeof(Value));
    return flag != 0;
  }

 private:
  alignas(16) unsigned long long words_[2];
};

template <>
class slot<tile_count, 8> {
 public:
  __device__ __forceinline__ void publish(tile_count count)
  {
    store_relaxed(&word_, count.value << 1U | 1U);
  }
  __device__ __forceinline__ bool read(tile_count& count) const
  {
    auto const word = load_relaxed(&word_);
    count.value = word >> 1U;
    return word != 0;
  }

 private:
  unsigned long long word_;
};

/// Each number has a flag of its own, so the access as a whole need not be atomic.
template <>
class slot<tile_counts, 16> {
 public:
  __device__ __forceinline__ void publish(tile_counts counts)
  {
    asm volatile(
        "st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(words_)),
        "l"(counts.first << 1U | 1U), "l"(counts.second << 1U | 1U)
        : "memory");
  }
  __device__ __forceinline__ bool read(tile_counts& counts) const
  {
    unsigned long long first;
    unsigned long long second;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(first), "=l"(second)
                 : "l"(__cvta_generic_to_global(words_))
                 : "memory");
    counts = {first >> 1U, second >> 1U};
    return (first & second & 1U) != 0;
  }

 private:
  alignas(16) unsigned long long words_[2];
};

}  // namespace fatlink_algorithms
