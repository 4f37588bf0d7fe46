// SPDX-License-Identifier: Apache-2.0
#include "option_hints.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace fatlink::cli {
namespace {

struct option_hint {
  std::string_view code;
  std::string_view hint;
};

constexpr std::array k_hints{
    option_hint{"CUDA_ERROR_OUT_OF_MEMORY", "use fewer --elements, or a GPU with more free memory"},
    option_hint{"out-of-memory", "use fewer --elements"},
    option_hint{"endless-kernel", "fix the loop, or raise --instruction-budget (0: no limit)"},
};

}  // namespace

std::string hint_of(error_details const& details)
{
  if (details.code == error_code::refused_instruction) return details.hint + ": --device gpu";
  auto const* const entry =
      std::find_if(k_hints.begin(), k_hints.end(),
                   [&](option_hint const& option) { return details.code == option.code; });
  return entry == k_hints.end() ? details.hint : std::string(entry->hint);
}

}  // namespace fatlink::cli
