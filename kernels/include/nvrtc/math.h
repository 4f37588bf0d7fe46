// SPDX-License-Identifier: Apache-2.0
// NVRTC declares the functions itself.
#ifndef FATLINK_MATH
#define FATLINK_MATH
#define FATLINK_INFINITY __builtin_bit_cast(float, 0x7f800000)
#define FATLINK_NAN __builtin_bit_cast(float, 0x7fffffff)
#ifndef INFINITY
#if __cplusplus >= 201103L  // CCCL may define macros of these names later
static constexpr float INFINITY = FATLINK_INFINITY;
static constexpr float NAN = FATLINK_NAN;
#else
#define INFINITY FATLINK_INFINITY
#define NAN FATLINK_NAN
#endif
#endif
#ifndef HUGE_VAL
#define HUGE_VAL ((double)FATLINK_INFINITY)
#define HUGE_VALF FATLINK_INFINITY
#endif
#ifndef M_PI
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
#endif
