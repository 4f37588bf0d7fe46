// SPDX-License-Identifier: Apache-2.0
// A transform for load_N: the elements of an array in the order of the indexes in the state;
// without a state, in their own order.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

FATLINK_LOAD_AT(fatlink_element, fatlink_element, in, index)
{
  return state == nullptr ? in[index] : in[static_cast<std::uint64_t const*>(state)[index]];
}
