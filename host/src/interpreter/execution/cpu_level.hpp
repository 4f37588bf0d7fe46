// SPDX-License-Identifier: Apache-2.0
// Which instructions of the host the handlers use. They are compiled twice on x86-64: for every
// processor, and for x86-64-v3 (AVX2, FMA, F16C, BMI). On AArch64 they are compiled once: every
// processor has FMA and vectors. All compute the same, bit by bit.
#pragma once

#if defined(__x86_64__)
#define FATLINK_HAS_LEVEL_3 1
/// A function of this kind runs only where has_level_3. What it calls is inlined into it.
#define FATLINK_LEVEL_3 \
  [[gnu::target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt"), gnu::flatten, gnu::noinline]]
#define FATLINK_LEVEL_3_INLINE \
  [[gnu::target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt"), gnu::always_inline]] inline
#endif

namespace fatlink::interpreter {

#ifdef FATLINK_HAS_LEVEL_3
constexpr bool k_is_x86_64 = true;
#else
constexpr bool k_is_x86_64 = false;
#endif

/// Whether kernels that are decoded from now on use x86-64-v3.
extern bool has_level_3;

/// For tests: selects what the host has, or what every processor has. Not while kernels are
/// decoded.
void use_level_3(bool is_allowed) noexcept;

}  // namespace fatlink::interpreter
