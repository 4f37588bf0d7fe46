// SPDX-License-Identifier: Apache-2.0
// A text without the line ends that a backslash before them removes, and where its letters are in
// the original. Raw strings, which keep such line ends, are joined, too. Source: C++20,
// [lex.phases]. Threads: no shared state.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fatlink::detail {

/// A part of the original text.
struct text_range {
  std::size_t offset = 0;
  std::size_t size = 0;
};

class joined_text {
 public:
  /// `text` must outlive it.
  explicit joined_text(std::string_view text);

  /// Points into the original, or into a copy that lives as long as this object.
  [[nodiscard]] std::string_view view() const noexcept { return removals_.empty() ? text_ : copy_; }
  /// Where `size` letters of view() from `position` on are in the original. `size`: at least 1.
  [[nodiscard]] text_range range_of(std::size_t position, std::size_t size) const;

 private:
  struct removal {
    std::size_t position = 0;  ///< in the joined text, of the letter after it
    std::size_t total = 0;     ///< bytes that were removed up to there, in one or more line ends
  };
  [[nodiscard]] std::size_t offset_of(std::size_t position) const;

  std::string_view text_;
  std::string copy_;
  std::vector<removal> removals_;
};

}  // namespace fatlink::detail
