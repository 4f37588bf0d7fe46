// SPDX-License-Identifier: Apache-2.0
// Formatting by fmt, compiled once: with the header-only fmt, every source would compile its own
// copy, which takes most of the compile time.
// Threads: no shared state.
#pragma once

#include <fmt/format.h>

#include <string>

namespace fatlink::detail {

/// As fmt::vformat.
std::string format_arguments(fmt::string_view text, fmt::format_args arguments);

/// As fmt::format.
template <typename... Arguments>
std::string format(fmt::format_string<Arguments...> text, Arguments&&... arguments)
{
  return format_arguments(text, fmt::make_format_args(arguments...));
}

}  // namespace fatlink::detail
