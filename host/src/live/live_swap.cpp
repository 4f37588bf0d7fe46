// SPDX-License-Identifier: Apache-2.0
#include "fatlink/live_swap.hpp"

namespace fatlink {

char const* to_string(swap_tier tier) noexcept
{
  switch (tier) {
    case swap_tier::only:
      return "only";
    case swap_tier::first:
      return "first";
    case swap_tier::best:
      return "best";
  }
  return "unknown";
}

}  // namespace fatlink
