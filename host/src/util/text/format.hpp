// SPDX-License-Identifier: Apache-2.0
// Formatting by fmt, compiled once: with the header-only fmt, every source would compile its own
// copy, which takes most of the compile time; and text from other programs and files, made safe for
// a terminal or a shell. Threads: no shared state.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace fatlink::detail {

/// As fmt::vformat.
std::string format_arguments(fmt::string_view text, fmt::format_args arguments);

/// As fmt::format.
template <typename... Arguments>
std::string format(fmt::format_string<Arguments...> text, Arguments&&... arguments)
{
  return format_arguments(text, fmt::make_format_args(arguments...));
}

/// `text` without white space (blanks, tabs, ends of lines) at its ends.
std::string_view trim(std::string_view text);

/// `text` with these bytes escaped as \xNN: those of control characters (C0 except tab and newline,
/// DEL, C1, the marks that reorder text), and those that are not valid UTF-8.
std::string printable(std::string_view text);

/// The size in bytes of the first character of `text`, which must not be empty; 0 if its first byte
/// begins no valid UTF-8 (RFC 3629).
std::size_t utf8_size(std::string_view text);
/// `text` on one line: as printable(), with spaces for tabs and newlines.
std::string one_line(std::string_view text);
/// The first 100 bytes of `text` on one line, for messages.
std::string printable_line(std::string_view text);
/// `text` in quotes, at most 100 bytes of it, for messages.
std::string in_quotes(std::string_view text);

/// `text` as one word of a POSIX shell: as it is if the shell gives no character of it a meaning,
/// otherwise in single quotes.
std::string shell_word(std::string_view text);

}  // namespace fatlink::detail
