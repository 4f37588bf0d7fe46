// SPDX-License-Identifier: Apache-2.0
// x, at most the limit of the state; without a state 127.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

FATLINK_MAP1(std::uint8_t, std::uint8_t, x)
{
  auto const limit = state == nullptr ? 127U : *static_cast<std::uint32_t const*>(state);
  return static_cast<std::uint8_t>(x < limit ? x : limit);
}
