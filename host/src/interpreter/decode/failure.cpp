// SPDX-License-Identifier: Apache-2.0
#include "interpreter/decode/failure.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "util/text/printable.hpp"

namespace fatlink::interpreter {
namespace {

/// With one space for blanks in a row that are not only spaces, and escapes for what is not
/// printable: names and text of PTX may hold any bytes.
std::string on_one_line(std::string_view message)
{
  std::string line;
  for (std::size_t i = 0; i < message.size();) {
    auto const end = std::min(message.find_first_not_of(" \t\n\v\f\r", i), message.size());
    auto const blanks = message.substr(i, end - i);
    if (blanks.find_first_not_of(' ') == std::string_view::npos)
      line += blanks;
    else if (!line.empty() && end != message.size())
      line += ' ';
    auto const next = std::min(message.find_first_of(" \t\n\v\f\r", end), message.size());
    line += message.substr(end, next - end);
    i = next;
  }
  return detail::printable(line);
}

}  // namespace

failure::failure(fault kind, std::string const& message, std::string source, unsigned line,
                 std::string location)
    : std::runtime_error(on_one_line(message)),
      kind_(kind),
      source_(std::move(source)),
      line_(line),
      location_(std::move(location))
{
}

}  // namespace fatlink::interpreter
