// SPDX-License-Identifier: Apache-2.0
#include "fatlink/launch_shape.hpp"

#include <algorithm>

#include "device/device_checks.hpp"

namespace fatlink {

launch_shape elementwise_shape(std::size_t count, extent block)
{
  constexpr std::size_t k_most_blocks = 0x7FFFFFFF;  // CUDA's limit on gridDim.x
  if (block.x == 0)
    detail::fail_use("block.x is 0: a block has at least one thread", "block.x", "pass 1 or more");
  auto const blocks = count / block.x + (count % block.x != 0 ? 1 : 0);
  return {.grid = static_cast<unsigned>(std::clamp<std::size_t>(blocks, 1, k_most_blocks)),
          .block = block};
}

}  // namespace fatlink
