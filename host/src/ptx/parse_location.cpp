// SPDX-License-Identifier: Apache-2.0
// Lines of the source that a compiler recorded. Source: PTX ISA 9.0, "Debugging Directives".
#include <algorithm>
#include <charconv>

#include "ptx/parser.hpp"

namespace fatlink::cpu {
namespace {

using tokens = std::vector<token>;

constexpr std::size_t k_most_words = 64;  ///< of a line that are kept; `.loc` has at most 15

/// The rest of the line, from the directive on.
tokens take_line(token_reader& from)
{
  tokens line;
  auto const number = from.peek().line;
  while (from.peek().kind != token_kind::end && from.peek().line == number) {
    auto const word = from.next();
    if (line.size() < k_most_words) line.push_back(word);
  }
  return line;
}

/// 0 where there is no such token, or it is no number.
unsigned number_at(tokens const& line, std::size_t index)
{
  unsigned value = 0;
  if (index < line.size()) {
    auto const text = line[index].text;
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

void parse_file(token_reader& from, std::map<unsigned, std::string>& to)
{
  auto const line = take_line(from);
  if (line.size() < 3 || line[2].kind != token_kind::string || line[2].text.size() < 2) return;
  auto const quoted = line[2].text;
  to[number_at(line, 1)] = quoted.substr(1, quoted.size() - 2);
}

syntax::source_location parse_location(token_reader& from)
{
  auto const line = take_line(from);
  if (number_at(line, 3) == 0) return {};  // a function's beginning, not a statement
  syntax::source_location location{.position = {number_at(line, 1), number_at(line, 2)},
                                   .inlined_at = {}};
  auto const inlined = std::find_if(line.begin(), line.end(),
                                    [](token const& word) { return word.text == "inlined_at"; });
  auto const index = static_cast<std::size_t>(inlined - line.begin());
  location.inlined_at = {number_at(line, index + 1), number_at(line, index + 2)};
  return location;
}

std::string syntax::describe(source_location const& location,
                             std::map<unsigned, std::string> const& files)
{
  auto const position = cpu::describe(location.position, files);
  auto const call = cpu::describe(location.inlined_at, files);
  if (position.empty() || call.empty()) return position;
  return position + ", inlined at " + call;
}

}  // namespace fatlink::cpu
