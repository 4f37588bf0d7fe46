// SPDX-License-Identifier: Apache-2.0
// Records with a score above the state's limit.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

struct scored {
  float score;
  std::int32_t index;
};
struct score_limit {
  float limit;
};

FATLINK_KEEP(scored, x)
{
  return x.score > static_cast<score_limit const*>(state)->limit;
}
