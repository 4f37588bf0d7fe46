// SPDX-License-Identifier: Apache-2.0
// Records with an even key.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

struct keyed_record {
  std::uint64_t key;
  std::uint64_t first;
  std::uint64_t second;
  std::uint64_t third;
};

FATLINK_KEEP(keyed_record, x)
{
  return x.key % 2 == 0;
}
