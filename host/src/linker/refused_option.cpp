// SPDX-License-Identifier: Apache-2.0
#include "linker/refused_option.hpp"

#include <string>
#include <string_view>

#include "linker/raw_options.hpp"
#include "nvjitlink/log.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {
namespace {

bool is_part_of_name(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

/// Whether `line` has `name` as a whole word.
bool has_word(std::string_view line, std::string_view name)
{
  for (auto position = line.find(name); position != std::string_view::npos;
       position = line.find(name, position + 1)) {
    auto const end = position + name.size();
    // ptxas writes the name with none, one or two dashes.
    auto const begin = line.find_last_not_of('-', position - 1);
    auto const begins =
        position == 0 || begin == std::string_view::npos || !is_part_of_name(line[begin]);
    if (begins && (end == line.size() || !is_part_of_name(line[end]))) return true;
  }
  return false;
}

/// The line about options that names `option`; empty: there is none.
std::string refusal_of(std::string const& option, std::string const& log)
{
  auto name = name_of_option(option);
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  for (auto const& line : lines_of(log))
    if (line.find("option") != std::string::npos && has_word(line, name) &&
        line.find("warning") == std::string::npos)
      return line;
  return {};
}

}  // namespace

error_details name_refused_option(error_details failure, link_options const& options)
{
  auto const name_first = [&](std::string_view tool, std::vector<std::string> const& texts) {
    for (auto const& option : texts) {
      auto const line = refusal_of(option, failure.log);
      if (line.empty()) continue;
      failure.message = detail::format("{} option '{}': this nvJitLink does not take it: {}", tool,
                                       printable_line(option), line);
      failure.input = printable_line(option);
      failure.hint = detail::format(
          "remove it from <link_options::{}>; <nvjitlink::path is> the one that was opened", tool);
      return true;
    }
    return false;
  };
  if (!name_first("ptxas", options.ptxas)) (void)name_first("nvvm", options.nvvm);
  return failure;
}

}  // namespace fatlink::detail
