// SPDX-License-Identifier: Apache-2.0
#include "input/ptx_text.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "input/ptx_body.hpp"
#include "input/refuse.hpp"
#include "ptx/lexer.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {
namespace {

using ptx::token;
using ptx::token_kind;

constexpr std::size_t k_most_shown_bytes = 32;

bool is_control(char letter)
{
  auto const code = static_cast<unsigned char>(letter);
  return (code < 0x20 && (code < '\t' || code > '\r')) || code == 0x7F;
}

template <typename Integer>
bool read_number(std::string_view digits, Integer& value)
{
  auto const* const end = digits.data() + digits.size();
  auto const [stop, code] = std::from_chars(digits.data(), end, value);
  return code == std::errc{} && stop == end;
}

class head_reader {
 public:
  head_reader(std::string_view text, std::string_view name) : text_(text), name_(name), lexer_(text)
  {
  }

  ptx_text read()
  {
    check_characters();
    read_version();
    read_target();
    read_address_size();
    return head_;
  }

 private:
  [[noreturn]] void fail(std::size_t offset, std::string const& cause) const
  {
    refuse_ptx(text_, name_, offset, cause);
  }

  void check_characters() const
  {
    for (std::size_t offset = 0; offset < text_.size();) {
      if (text_[offset] == '\0') fail(offset, "has a NUL before its end");
      if (is_control(text_[offset]))
        fail(offset, detail::format("has the control character {:#04x}", text_[offset]));
      auto const size = utf8_size(text_.substr(offset));
      if (size == 0) fail(offset, "has bytes that are not UTF-8");
      offset += size;
    }
  }

  void expect(std::string_view directive)
  {
    auto const word = lexer_.next();
    if (word.text == directive) return;
    fail(word.offset, detail::format("has {} where {} must be", shown(word), directive));
  }

  static std::string shown(token const& word)
  {
    return word.kind == token_kind::end
               ? "its end"
               : detail::format("'{}'", printable(word.text.substr(0, k_most_shown_bytes)));
  }

  void read_version()
  {
    expect(".version");
    auto const version = lexer_.next();
    auto const dot = version.text.find('.');
    if (dot == std::string_view::npos ||
        !read_number(version.text.substr(0, dot), head_.version_major) ||
        !read_number(version.text.substr(dot + 1), head_.version_minor))
      fail(version.offset, detail::format("has {} where a version must be", shown(version)));
  }

  /// .target sm_90a, debug: the architecture is first, then options.
  void read_target()
  {
    expect(".target");
    auto const word = lexer_.next();
    if (!read_architecture(word.text))
      fail(word.offset, detail::format("has {} where a target must be", shown(word)));
    after_target_ = lexer_.next();
    while (after_target_.text == ",") {
      if (auto const option = lexer_.next(); option.kind != token_kind::word)
        fail(option.offset, detail::format("has {} where a target must be", shown(option)));
      after_target_ = lexer_.next();
    }
  }

  bool read_architecture(std::string_view text)
  {
    constexpr std::string_view k_prefix = "sm_";
    if (!text.starts_with(k_prefix)) return false;
    text.remove_prefix(k_prefix.size());
    auto const suffix = text.ends_with('a') || text.ends_with('f') ? text.back() : '\0';
    if (suffix != '\0') text.remove_suffix(1);
    unsigned number = 0;
    if (!read_number(text, number) || number < 10 || number > 999) return false;
    head_.target = target(number, suffix);
    return true;
  }

  void read_address_size()
  {
    if (after_target_.text != ".address_size")
      fail(after_target_.offset,
           "has no .address_size 64 after .target, so its addresses have 32 "
           "bits");
    auto const size = lexer_.next();
    if (size.text != "64")
      fail(size.offset, detail::format("has .address_size {}, not 64", shown(size)));
    head_.text = text_;
  }

  std::string_view text_;
  std::string_view name_;
  ptx::lexer lexer_;
  token after_target_;
  ptx_text head_;
};

}  // namespace

ptx_text read_ptx_text(bytes_view bytes, std::string_view name)
{
  std::string_view text(reinterpret_cast<char const*>(bytes.data()), bytes.size());
  text = text.substr(0, text.find_last_not_of('\0') + 1);
  auto const ptx = head_reader(text, name).read();
  check_ptx_body(text, name);
  return ptx;
}

}  // namespace fatlink::detail
