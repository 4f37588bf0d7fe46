// SPDX-License-Identifier: Apache-2.0
// Records with a score above the state's limit; without a state, above 0.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

struct scored {
  float score;
  std::int32_t index;
};

FATLINK_KEEP(scored, x)
{
  return x.score > (state == nullptr ? 0.0F : *static_cast<float const*>(state));
}
