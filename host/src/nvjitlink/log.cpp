// SPDX-License-Identifier: Apache-2.0
#include "nvjitlink/log.hpp"

#include <algorithm>
#include <sstream>

namespace fatlink::detail {
namespace {

constexpr std::string_view k_mark = "@E@";

std::string_view skip_blanks(std::string_view text)
{
  auto const begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string_view{} : text.substr(begin);
}

bool begins_with(std::string_view text, std::string_view word)
{
  auto const lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return text.size() >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin(),
                    [&](char a, char b) { return lower(a) == lower(b); });
}

/// `text` without `prefix` and the blanks after it.
std::string_view skip(std::string_view text, std::string_view prefix)
{
  return begins_with(text, prefix) ? skip_blanks(text.substr(prefix.size())) : text;
}

/// `text` without "application ptx input, line 25; ", which ptxas writes before a fault of PTX.
std::string_view skip_place(std::string_view text)
{
  auto const end = text.find("; ");
  return begins_with(text, "application ptx input, line ") && end != std::string_view::npos
             ? skip_blanks(text.substr(end + 2))
             : text;
}

}  // namespace

bool is_error_line(std::string_view line)
{
  auto text = skip(skip_blanks(line), k_mark);
  for (auto const* tool : {"ptxas ", "nvlink "}) text = skip(text, tool);
  text = skip_place(text);
  return begins_with(text, "error") || begins_with(text, "fatal");
}

bool is_progress_line(std::string_view line)
{
  auto const text = skip_blanks(line);
  return text.starts_with("SUCCESS:") || text.starts_with("INFO:");
}

std::vector<std::string> lines_of(std::string const& text)
{
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (!skip_blanks(line).empty()) lines.push_back(line);
  return lines;
}

std::string first_error_line(std::string const& text)
{
  auto const lines = lines_of(text);
  auto const line = std::find_if(lines.begin(), lines.end(), is_error_line);
  return line == lines.end() ? std::string() : *line;
}

std::string quoted_after(std::string_view line, std::string_view text)
{
  auto const begin = line.find(text);
  if (begin == std::string_view::npos) return {};
  auto const name = line.substr(begin + text.size());
  return std::string(name.substr(0, name.find('\'')));
}

}  // namespace fatlink::detail
