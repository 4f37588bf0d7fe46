// SPDX-License-Identifier: Apache-2.0
// Source lines, which nvcc -lineinfo records. Source: PTX ISA 9.0, "Debugging Directives".
#include <algorithm>
#include <charconv>

#include "ptx/grammar.hpp"

namespace fatlink::ptx {
namespace {

using tokens = std::vector<token>;

/// 0 if there is no such token or it is not a number.
unsigned number_at(tokens const& words, std::size_t index)
{
  unsigned value = 0;
  if (index < words.size()) {
    auto const text = words[index].text;
    std::from_chars(text.data(), text.data() + text.size(), value);
  }
  return value;
}

std::string describe(syntax::source_position const& position,
                     std::map<unsigned, std::string> const& files)
{
  auto const file = files.find(position.file);
  if (position.line == 0 || file == files.end()) return {};
  return file->second + ":" + std::to_string(position.line);
}

}  // namespace

void parse_file(token_reader& reader, std::map<unsigned, std::string>& files)
{
  auto const words = reader.take_directive();
  if (words.size() < 3 || words[2].kind != token_kind::string || words[2].text.size() < 2) return;
  auto const quoted = words[2].text;
  files[number_at(words, 1)] = quoted.substr(1, quoted.size() - 2);
}

syntax::source_location parse_location(token_reader& reader)
{
  auto const words = reader.take_directive();
  if (number_at(words, 3) == 0) return {};  // the start of a function, not a statement
  syntax::source_location location{.position = {number_at(words, 1), number_at(words, 2)},
                                   .inlined_at = {}};
  auto const inlined = std::find_if(words.begin(), words.end(),
                                    [](token const& word) { return word.text == "inlined_at"; });
  auto const index = static_cast<std::size_t>(inlined - words.begin());
  location.inlined_at = {number_at(words, index + 1), number_at(words, index + 2)};
  return location;
}

std::string syntax::describe(source_location const& location,
                             std::map<unsigned, std::string> const& files)
{
  auto const position = ptx::describe(location.position, files);
  auto const call = ptx::describe(location.inlined_at, files);
  if (position.empty() || call.empty()) return position;
  return position + ", inlined at " + call;
}

}  // namespace fatlink::ptx
