// SPDX-License-Identifier: Apache-2.0
// Records with a score below the state's range, in the range, and above it; without a state, the
// range is from 0 to 1.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

struct scored {
  float score;
  std::int32_t index;
};

struct range {
  float low;
  float high;
};

FATLINK_PART(scored, x)
{
  auto const limits = state == nullptr ? range{0.0F, 1.0F} : *static_cast<range const*>(state);
  return x.score < limits.low ? 0 : x.score <= limits.high ? 1 : 2;
}
