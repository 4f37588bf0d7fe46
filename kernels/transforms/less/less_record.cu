// SPDX-License-Identifier: Apache-2.0
// The higher priority first, equal ones in the order of their times.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

struct record {
  std::int64_t time;
  std::uint64_t id;
  std::uint64_t data;
  std::int32_t priority;
  std::int32_t kind;
};

FATLINK_LESS(record, a, b)
{
  return a.priority > b.priority || (a.priority == b.priority && a.time < b.time);
}
