// SPDX-License-Identifier: Apache-2.0
#include "interpreter/execution/cpu_level.hpp"

#ifdef FATLINK_HAS_LEVEL_3
#include <cpuid.h>
#endif

namespace fatlink::interpreter {
namespace {

#ifdef FATLINK_HAS_LEVEL_3
/// What compilers cannot ask by name: bits of cpuid (Intel SDM, volume 2, "CPUID").
bool has_bits(unsigned leaf, unsigned ecx_bit) noexcept
{
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(leaf, &eax, &ebx, &ecx, &edx) != 0 && (ecx >> ecx_bit & 1U) != 0;
}
#endif

bool host_has_level_3() noexcept
{
#ifdef FATLINK_HAS_LEVEL_3
  __builtin_cpu_init();
  auto const has_f16c = has_bits(1, 29);
  auto const has_lzcnt = has_bits(0x80000001U, 5);
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0 && has_f16c &&
         has_lzcnt;
#else
  return false;
#endif
}

}  // namespace

bool has_level_3 = host_has_level_3();

void use_level_3(bool is_allowed) noexcept
{
  has_level_3 = is_allowed && host_has_level_3();
}

}  // namespace fatlink::interpreter
