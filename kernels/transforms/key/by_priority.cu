// SPDX-License-Identifier: Apache-2.0
// The higher priority first; 32 bits.
#include <cstdint>

#include <fatlink/typed_hooks.cuh>

struct record {
  std::int64_t time;
  std::uint64_t id;
  std::uint64_t data;
  std::int32_t priority;
  std::int32_t kind;
};

FATLINK_KEY(record, x)
{
  return fatlink::descending(x.priority);
}
