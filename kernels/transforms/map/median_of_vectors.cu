// SPDX-License-Identifier: Apache-2.0
// The median of three numbers, for each field.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

struct vector {
  std::int32_t x, y, z, w;
};

namespace {

__device__ std::int32_t median(std::int32_t a, std::int32_t b, std::int32_t c)
{
  return max(min(a, b), min(max(a, b), c));
}

}  // namespace

FATLINK_MAP3(vector, vector, a, vector, b, vector, c)
{
  return {median(a.x, b.x, c.x), median(a.y, b.y, c.y), median(a.z, b.z, c.z),
          median(a.w, b.w, c.w)};
}
