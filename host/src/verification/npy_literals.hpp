// SPDX-License-Identifier: Apache-2.0
// The literals of Python in the header of a .npy file, read strictly: npy_header.hpp has the
// grammar. Threads: a reader is used by one thread.
#pragma once

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "fatlink/error.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {

/// @throws file_error (invalid-npy) that `path` is refused for `reason`.
[[noreturn]] inline void fail_npy(std::filesystem::path const& path, std::string const& reason,
                                  std::string hint = "write it with numpy.save")
{
  throw file_error(stage::input, {.message = detail::format("{}: {}", path.string(), reason),
                                  .input = path.string(),
                                  .code = error_code::invalid_npy,
                                  .hint = std::move(hint)});
}

/// Reads a header from left to right. `text` and `path` must outlive it.
/// @throws file_error (invalid-npy) what was expected does not come next.
class literal_reader {
 public:
  literal_reader(std::string_view text, std::filesystem::path const& path)
      : rest_(text), path_(path)
  {
  }

  /// Whether `letter` comes next, after spaces; consumes it.
  bool accept(char letter)
  {
    skip_spaces();
    if (!rest_.starts_with(letter)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char letter)
  {
    if (!accept(letter)) refuse(detail::format("'{}'", letter));
  }

  bool accept_word(std::string_view word)
  {
    skip_spaces();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  /// A string without escapes.
  std::string_view read_string()
  {
    skip_spaces();
    auto const quote = rest_.empty() ? '\0' : rest_.front();
    if (quote != '\'' && quote != '"') refuse("a string");
    auto const end = rest_.find(quote, 1);
    if (end == std::string_view::npos) refuse("the end of a string");
    auto const text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::size_t read_number()
  {
    skip_spaces();
    std::size_t number = 0;
    auto const [end, status] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (status != std::errc{}) refuse("a number below 2^64");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return number;
  }

  void expect_end()
  {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n'))
      rest_.remove_prefix(1);
    if (!rest_.empty()) refuse("nothing more");
  }

  [[noreturn]] void refuse(std::string const& expected) const
  {
    fail_npy(path_, rest_.empty()
                        ? detail::format("its header is malformed: it ends where it should have {}",
                                         expected)
                        : detail::format("its header is malformed: \"{}\" where it should have {}",
                                         printable_line(rest_.substr(0, 24)), expected));
  }

  [[nodiscard]] std::filesystem::path const& path() const noexcept { return path_; }

 private:
  void skip_spaces()
  {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }

  std::string_view rest_;
  std::filesystem::path const& path_;
};

}  // namespace fatlink::detail
