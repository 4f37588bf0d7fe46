// SPDX-License-Identifier: Apache-2.0
#include "compiler/messages/compile_log.hpp"

#include <algorithm>
#include <optional>

#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// "NAME(LINE): …" of a log.
struct log_line {
  std::string_view name = {};
  std::string_view number = {};
  std::string_view rest = {};  ///< ": …"
};

std::optional<log_line> split(std::string_view line)
{
  auto const close = line.find("): ");
  if (close == std::string_view::npos) return std::nullopt;
  auto const open = line.rfind('(', close);
  if (open == std::string_view::npos) return std::nullopt;
  return log_line{line.substr(0, open), line.substr(open + 1, close - open - 1),
                  line.substr(close + 1)};
}

/// The file that the compiler knows as `name`; empty if it is none that was passed.
std::string file_of(std::string_view name, compile_subject const& subject)
{
  if (name == subject.program_name) return subject.name;
  auto const header = subject.header_files.find(std::string(name));
  return header == subject.header_files.end() ? std::string() : header->second;
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text)
{
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    auto const end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view catastrophe_of(std::string_view line)
{
  constexpr std::string_view k_mark = "): ";
  constexpr std::string_view k_kind = "catastrophic error: ";
  auto const start = line.rfind(k_mark);
  if (line.starts_with(' ') || start == std::string_view::npos) return {};
  line.remove_prefix(start + k_mark.size());
  return line.starts_with(k_kind) ? line.substr(k_kind.size()) : std::string_view();
}

std::string with_user_name(std::string_view line, compile_subject const& subject)
{
  auto const& name = subject.program_name;
  if (line.starts_with("ptxas ")) return detail::format("{}: {}", subject.name, line);
  if (auto const parts = split(line))
    if (auto const file = file_of(parts->name, subject); !file.empty())
      return detail::format("{}:{}{}", file, parts->number, parts->rest);
  if (line.starts_with(name) && line.size() > name.size() && line[name.size()] != '(')
    return subject.name + std::string(line.substr(name.size()));
  return std::string(line);
}

std::string place_of_catastrophe(std::string_view log, compile_subject const& subject)
{
  for (auto const line : lines_of(log)) {
    auto const parts = split(line);
    if (!parts || catastrophe_of(line).empty()) continue;
    auto const file = file_of(parts->name, subject);
    if (!file.empty() && parts->number != "0") return detail::format("{}:{}", file, parts->number);
  }
  return subject.name;
}

std::string with_header_files(std::string_view log, compile_subject const& subject)
{
  std::string text;
  for (auto line : lines_of(log)) {
    if (auto const parts = split(line))
      if (auto const header = subject.header_files.find(std::string(parts->name));
          header != subject.header_files.end()) {
        text += header->second;
        line.remove_prefix(parts->name.size());
      }
    text.append(line) += '\n';
  }
  if (!log.ends_with('\n') && !text.empty()) text.pop_back();
  return text;
}

std::string missing_header_of(std::string_view log)
{
  for (auto const line : lines_of(log))
    for (std::string_view const mark :
         {"could not open source file \"", "cannot open source file \""})
      if (auto const text = catastrophe_of(line); text.starts_with(mark)) {
        auto const name = text.substr(mark.size());
        auto const end = std::min(name.rfind('"'), name.size());
        if (auto const rest = name.substr(end);
            rest == "\"" || rest.starts_with("\" (") || rest.starts_with("\": "))
          return std::string(name.substr(0, end));
      }
  return {};
}

}  // namespace fatlink::detail
