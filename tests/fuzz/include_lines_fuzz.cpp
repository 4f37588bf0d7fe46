// SPDX-License-Identifier: Apache-2.0
// Any bytes as CUDA C++ whose headers are searched: a source, then up to three headers in memory,
// separated by NULs. What the scanner finds must be parts of the text, and each header that a
// directive of the source names must be found; the texts of the set are rewritten and read again.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "compiler/directives/include_lines.hpp"
#include "compiler/directives/include_macros.hpp"
#include "compiler/headers/header_set.hpp"
#include "fatlink/error.hpp"

namespace {

using namespace fatlink::detail;

constexpr std::array k_names{"a.h", "b/c.h", "d"};

void expect(bool condition)
{
  if (!condition) std::abort();
}

bool is_part(std::string_view part, std::string_view text)
{
  return part.empty() ||
         (part.data() >= text.data() && part.data() + part.size() <= text.data() + text.size());
}

bool is_range(text_range range, std::string_view text)
{
  return range.size > 0 && range.offset <= text.size() && range.size <= text.size() - range.offset;
}

/// Whether `part` is in `range` of `text`, but for the line ends that a backslash removes.
bool is_at(std::string_view part, text_range range, std::string_view text)
{
  auto const original = text.substr(range.offset, range.size);
  return original.find('\n') == std::string_view::npos ? original == part
                                                       : part.size() < original.size();
}

/// Whether `value` is what `text` has, in this order, but for comments and blanks.
bool is_left_of(std::string_view value, std::string_view text)
{
  std::size_t place = 0;
  for (char const letter : value) {
    if (letter == ' ') continue;
    place = text.find(letter, place);
    if (place == std::string_view::npos) return false;
    ++place;
  }
  return true;
}

void check_directives(std::string_view text)
{
  auto const directives = find_directives(text);
  auto const joined = directives.text->view();
  std::size_t last = 0;
  for (auto const& include : directives.includes) {
    expect(!include.name.empty() && include.name.find('\n') == std::string_view::npos);
    expect(is_range(include.range, text) && is_at(include.name, include.range, text));
    expect(include.range.offset > last);
    last = include.range.offset;
    if (include.is_next) expect(is_range(include.word, text));
  }
  for (auto const& use : directives.uses)
    expect(is_range(use.range, text) && is_part(use.text, joined));
  for (auto const& macro : directives.definitions) {
    expect(is_part(macro.name, joined) && is_part(macro.parameters, joined));
    auto const start = static_cast<std::size_t>(macro.name.data() - joined.data());
    expect(macro.value.find('\n') == std::string::npos);
    expect(is_left_of(macro.value, joined.substr(start + macro.name.size())));
  }
  include_macros macros;
  macros.add(directives);
  for (auto const number : macros.expand())
    for (auto const& header : macros.headers_of(number))
      expect(header.name.find('\n') == std::string::npos);
}

/// Adds what `source` includes; a limit, or a name that means two files, is an error.
bool add_includes(header_set& headers, std::string_view source)
try {
  headers.add_includes_of(source);
  return true;
} catch (fatlink::error const&) {
  return false;
}

/// The part of `text` before the next NUL; removes it.
std::string_view take_part(std::string_view& text)
{
  auto const end = std::min(text.find('\0'), text.size());
  auto const part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  std::string_view rest(reinterpret_cast<char const*>(data), size);
  auto const source = take_part(rest);
  std::map<std::string, std::string> in_memory;
  for (auto const* name : k_names) in_memory[name] = take_part(rest);
  check_directives(source);
  header_set headers({.in_memory = in_memory});
  if (!add_includes(headers, source)) return 0;
  for (auto const& header : headers.headers()) check_directives(header.text);
  for (auto const* name : k_names) expect(headers.add(name) == false);  // in the set already
  return 0;
}
