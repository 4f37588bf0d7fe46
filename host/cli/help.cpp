// SPDX-License-Identifier: Apache-2.0
// --help and --help-all. --help fits a screen: it has the most used options, one line each.
// Descriptions end at the first semicolon, and groups that is_group_of_more() names are left out.
// --help-all has everything. The manual page (manual.cpp) is made from the same options.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "options.hpp"
#include "terminal/streams.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

constexpr std::size_t k_help_width = 100;  // of a line
constexpr std::size_t k_help_column = 30;  // where descriptions begin

/// The words of `text` in lines from column `indent` on; the first line continues at `column`.
std::string wrap(std::string const& text, std::size_t column, std::size_t indent)
{
  std::istringstream words(text);
  std::string lines;
  for (std::string word; words >> word;) {
    auto const is_first = lines.empty();
    if (!is_first && column + 1 + word.size() > k_help_width) {
      lines += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!is_first) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines;
}

/// "--mode ptx|lto|both": the names and the values.
std::string help_term(CLI::Option const& option, bool is_short)
{
  if (option.get_positional())
    return option.get_name(true) + (option.get_expected_max() > 1 ? "..." : "");
  auto const names = fmt::format("{}", fmt::join(names_of(option), ", "));
  if (!takes_value(option)) return names;
  auto const choices = choices_of(option);
  return names + ' ' +
         (choices.empty() || (is_short && choices.size() > 5)
              ? value_type_of(option)
              : fmt::format("{}", fmt::join(choices, "|")));
}

/// The description up to its first semicolon.
std::string summary_of(std::string const& description)
{
  return description.substr(0, description.find("; "));
}

std::string row(CLI::Option const& option, bool is_short)
{
  auto const left = "  " + help_term(option, is_short);
  auto text = is_short ? summary_of(option.get_description()) : option.get_description();
  if (auto const value = default_of(option); !value.empty())
    text += fmt::format(" (default: {})", value);
  if (option.get_required()) text += " (required)";
  if (left.size() + 2 > k_help_column)
    return left + '\n' + std::string(k_help_column, ' ') +
           wrap(text, k_help_column, k_help_column) + '\n';
  return fmt::format("{:{}}{}\n", left, k_help_column, wrap(text, k_help_column, k_help_column));
}

std::string heading(std::string const& title)
{
  return colored(meaning::title, title) + '\n';
}

/// Arguments that are in no group of their own have a heading before all groups.
bool is_argument_of_options(CLI::Option const& option)
{
  return option.get_positional() && option.get_group() == k_options_group;
}

std::string arguments_text(CLI::App const& app, bool is_short)
{
  std::string rows;
  for (auto const* option : app.get_options())
    if (is_argument_of_options(*option)) rows += row(*option, is_short);
  return rows.empty() ? rows
                      : (is_short ? heading("Arguments:") : "\n" + heading("Arguments:")) + rows;
}

std::string group_text(CLI::App const& app, std::string const& group, bool is_short)
{
  std::string rows;
  for (auto const* option : app.get_options())
    if (option->get_group() == group && !is_argument_of_options(*option))
      rows += row(*option, is_short);
  return rows.empty() ? rows
                      : fmt::format("{}{}{}", is_short ? "" : "\n", heading(group + ":"), rows);
}

std::string usage_of(CLI::App const& app, std::string const& name)
{
  auto text = fmt::format("Usage: {}", name);
  if (!commands_of(app).empty()) text += " COMMAND";
  text += " [OPTIONS]";
  for (auto const* option : app.get_options()) {
    if (!option->get_positional()) continue;
    auto const word = help_term(*option, true);
    text += option->get_required() ? ' ' + word : fmt::format(" [{}]", word);
  }
  return text + '\n';
}

std::string commands_text(CLI::App const& app)
{
  std::string text;
  for (auto const* command : commands_of(app))
    text += fmt::format("  {:{}}{}\n", command->get_name(), k_help_column - 2,
                        wrap(command->get_description(), k_help_column, k_help_column));
  return text.empty() ? text : heading("Commands:") + text;
}

/// The short help of a verb has its first example only.
std::string footer_of(CLI::App const& app, bool is_short)
{
  auto footer = app.get_footer();
  if (!is_short || !commands_of(app).empty()) return footer;
  footer.erase(std::min(footer.find('\n'), footer.size()));
  return footer.starts_with("Example") ? footer : std::string();
}

class help_format final : public CLI::FormatterBase {
 public:
  std::string make_help(CLI::App const* app, std::string name,
                        CLI::AppFormatMode mode) const override
  {
    auto const is_short = mode != CLI::AppFormatMode::All;
    if (name.empty()) name = full_name(*app);
    auto text = app->get_description() + '\n' + usage_of(*app, name) + commands_text(*app) +
                arguments_text(*app, is_short);
    auto is_complete = true;
    for (auto const& group : all_groups_of(*app)) {
      if (is_short && is_group_of_more(group))
        is_complete = false;
      else
        text += group_text(*app, group, is_short);
    }
    if (auto const footer = footer_of(*app, is_short); !footer.empty())
      text += '\n' + footer + '\n';
    if (!is_complete) text += fmt::format("More options: {} --help-all\n", name);
    return text;
  }

 private:
  static std::string full_name(CLI::App const& app)
  {
    auto const* const parent = app.get_parent();
    return parent == nullptr ? app.get_name() : full_name(*parent) + ' ' + app.get_name();
  }
};

}  // namespace

std::vector<std::string> all_groups_of(CLI::App const& app)
{
  auto groups = app.get_groups();
  std::erase(groups, std::string());
  std::stable_partition(groups.begin(), groups.end(),
                        [](auto const& group) { return group != k_options_group; });
  return groups;
}

void use_help_format(CLI::App& program)
{
  program.formatter(std::make_shared<help_format>());
  program.set_help_flag("-h,--help", "show the most used options");
  program.set_help_all_flag("--help-all", "show all options with full descriptions");
}

bool is_group_of_more(std::string const& group)
{
  return group == k_link_group || group == k_source_group || group == k_reference_device_group ||
         group == k_more_group;
}

}  // namespace fatlink::cli
