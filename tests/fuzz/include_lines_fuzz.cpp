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

#include "compiler/header_set.hpp"
#include "compiler/include_lines.hpp"
#include "compiler/include_macros.hpp"
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

void check_directives(std::string_view text)
{
  auto const directives = find_directives(text);
  std::size_t last = 0;
  for (auto const& include : directives.includes) {
    expect(!include.name.empty() && include.name.find('\n') == std::string_view::npos);
    expect(include.offset > last && text.substr(include.offset).starts_with(include.name));
    last = include.offset;
  }
  for (auto const macro : directives.macros) expect(!macro.empty() && is_part(macro, text));
  for (auto const& macro : directives.definitions)
    expect(is_part(macro.name, text) && is_part(macro.value, text));
  include_macros macros;
  macros.add(directives);
  for (auto const& name : macros.header_names()) expect(name.find('\n') == std::string::npos);
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
  header_set headers({}, in_memory);
  headers.add_includes_of(source);
  for (auto const& header : headers.headers()) check_directives(header.text);
  for (auto const* name : k_names) expect(headers.add(name) == false);  // in the set already
  return 0;
}
