// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

// `fatlink --manual FILE`: the build makes the manual page by it. The page's source,
// host/man/fatlink.1.in, has what no option states of itself, and two requests that are replaced:
//
//   .SYNOPSIS run       how the command is called
//   .OPTIONS run        its options and arguments, except those of every command
//   .OPTIONS TITLE      the options of the group TITLE, and which commands have them

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>
#include <utility>

#include "options.hpp"

namespace fatlink::cli {
namespace {

using option_list = std::vector<CLI::Option const*>;

struct described_command {
  std::string name;  ///< "cache warm"
  CLI::App const* app;
};
using command_list = std::vector<described_command>;

command_list list_commands(CLI::App const& app, std::string const& prefix = "")
{
  command_list commands;
  for (auto const* sub : commands_of(app)) {
    commands.push_back({prefix + sub->get_name(), sub});
    for (auto& inner : list_commands(*sub, commands.back().name + ' '))
      commands.push_back(std::move(inner));
  }
  return commands;
}

/// `text` as it is read; man(7) takes a plain dash for a hyphen.
std::string escape(std::string const& text)
{
  std::string escaped;
  for (auto const letter : text) {
    if (letter == '\\') escaped += "\\e";
    if (letter == '-') escaped += '\\';
    if (letter == '~') escaped += "\\(ti";
    if (letter != '\\' && letter != '~') escaped += letter;
  }
  return escaped;
}

/// The words in bold, as options and commands are.
std::string in_bold(std::vector<std::string> const& words, std::string const& separator)
{
  std::string text;
  for (auto const& word : words)
    text += (text.empty() ? "" : separator) + "\\fB" + escape(word) + "\\fP";
  return text;
}

/// "run, link and check".
std::string enumerate(std::vector<std::string> const& words)
{
  auto const last = in_bold({words.back()}, "");
  if (words.size() == 1) return last;
  return in_bold({words.begin(), words.end() - 1}, ", ") + " and " + last;
}

std::string value_text(CLI::Option const& option)
{
  auto const choices = choices_of(option);
  auto const list = option.get_delimiter() == ',' ? ",.\\|.\\|." : "";
  if (!choices.empty()) return in_bold(choices, "|\\:") + list;
  return "\\fI" + escape(value_type_of(option)) + "\\fP" + list;
}

std::string term(CLI::Option const& option)
{
  if (option.get_positional()) return "\\fI" + escape(option.get_name(true)) + "\\fP";
  auto const names = in_bold(names_of(option), ", ");
  return takes_value(option) ? names + ' ' + value_text(option) : names;
}

/// A sentence: with a capital, unless it begins with a value such as "gpu,", and a period.
std::string sentence(std::string text)
{
  auto const word = text.substr(0, text.find_first_of(" ,:"));
  auto const is_word = [](unsigned char letter) { return std::islower(letter) != 0; };
  if (std::ranges::all_of(word, is_word) && !text.starts_with(word + ','))
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text.ends_with('.') ? text : text + '.';
}

/// Escaped `text` in lines of at most 80 bytes, as mandoc -T lint asks; none begins as a request.
std::string in_lines(std::string const& text)
{
  constexpr std::size_t k_width = 78;
  std::istringstream words(text);
  std::string lines;
  std::string line;
  for (std::string word; words >> word;) {
    if (word.front() == '.' || word.front() == '\'') word.insert(0, "\\&");
    if (!line.empty() && line.size() + 1 + word.size() > k_width)
      lines += std::exchange(line, "") + '\n';
    line += (line.empty() ? "" : " ") + word;
  }
  return lines + line + '\n';
}

std::vector<std::string> excluded_by(CLI::Option const& option)
{
  std::set<std::string> names;  // CLI11's own order is that of addresses
  for (auto const* other : option.get_excludes()) names.insert(names_of(*other).back());
  return {names.begin(), names.end()};
}

std::string item(CLI::Option const& option)
{
  auto text = ".TP\n" + term(option) + '\n' + in_lines(escape(sentence(option.get_description())));
  if (auto const value = default_of(option); !value.empty())
    text += in_lines(escape("Default: " + value + '.'));
  if (option.get_required()) text += "Required.\n";
  if (option.get_expected_max() > 1 && !option.get_positional()) text += "Can be repeated.\n";
  if (auto const others = excluded_by(option); !others.empty())
    text += in_lines("Cannot be used together with " + enumerate(others) + '.');
  return text;
}

/// Of every command, which one section of the page describes.
bool is_common(CLI::Option const& option)
{
  return option.check_name("--help") || option.check_name("--help-all") ||
         option.check_name("--json");
}

option_list options_of(CLI::App const& app, std::string const& group)
{
  auto const belongs = [&](CLI::Option const* option) {
    return option->get_group() == group && !is_common(*option);
  };
  return app.get_options(belongs);
}

std::string synopsis(described_command const& command)
{
  auto text = fmt::format(".SY \"fatlink {}\"\n", command.name);
  if (command.app->get_require_subcommand_min() > 0) return text + ".I command\n.YS\n";
  for (auto const* option : command.app->get_options())
    if (option->get_required() && !option->get_positional())
      text += in_bold({names_of(*option).back()}, "") + ' ' + value_text(*option) + '\n';
  text += ".RI [ option .\\|.\\|.]\\&\n";
  for (auto const* option : command.app->get_options())
    if (option->get_positional())
      text += term(*option) + (option->get_expected_max() > 1 ? " .\\|.\\|.\n" : "\n");
  return text + ".YS\n";
}

bool is_shared(std::string const& group)
{
  return group == k_link_group || group == k_source_group;
}

/// The groups of options that `app` shares with other commands.
std::set<std::string> groups_of(CLI::App const& app)
{
  std::set<std::string> shared;
  for (auto const& group : app.get_groups())
    if (is_shared(group)) shared.insert(group);
  return shared;
}

std::string verb_options(described_command const& command)
{
  std::string text;
  for (auto const& group : all_groups_of(*command.app)) {
    if (is_shared(group)) continue;
    if (group != k_options_group) text += ".PP\n.I " + group + '\n';
    for (auto const* option : options_of(*command.app, group)) text += item(*option);
  }
  for (auto const& group : groups_of(*command.app))
    text += ".PP\nSee also\n.RI \"" + group + "\" .\n";
  return text;
}

std::vector<std::string> names_with(command_list const& commands, CLI::Option const& option)
{
  std::vector<std::string> names;
  for (auto const& command : commands)
    for (auto const* own : options_of(*command.app, option.get_group()))
      if (names_of(*own) == names_of(option)) names.push_back(command.name);
  return names;
}

/// The options of a group: each once, with the commands that have it unless all have.
std::string describe_group(command_list const& all, std::string const& group)
{
  command_list commands;
  std::vector<std::string> names;
  for (auto const& command : all)
    if (groups_of(*command.app).contains(group)) commands.push_back(command);
  for (auto const& command : commands) names.push_back(command.name);
  auto text = in_lines("Options of " + enumerate(names) + '.');
  std::set<std::vector<std::string>> described;
  for (auto const& command : commands)
    for (auto const* option : options_of(*command.app, group)) {
      if (!described.insert(names_of(*option)).second) continue;
      text += item(*option);
      if (auto const some = names_with(commands, *option); some.size() < names.size())
        text += in_lines("Only of " + enumerate(some) + '.');
    }
  return text;
}

[[noreturn]] void refuse_page(std::string const& what)
{
  fail_usage("the source of the manual: " + what, what, "see host/cli/manual.cpp");
}

/// Replaces requests, and knows which are still missing.
class page_writer {
 public:
  explicit page_writer(CLI::App const& program) : commands_(list_commands(program))
  {
    for (auto const& command : commands_) {
      missing_.insert({".SYNOPSIS " + command.name, ".OPTIONS " + command.name});
      for (auto const& group : groups_of(*command.app)) missing_.insert(".OPTIONS " + group);
    }
  }

  std::string replace(std::string const& line)
  {
    if (!line.starts_with(".SYNOPSIS ") && !line.starts_with(".OPTIONS ")) return line + '\n';
    if (missing_.erase(line) == 0) refuse_page(line + ": no such command or group, or twice");
    auto const name = line.substr(line.find(' ') + 1);
    auto const command = std::ranges::find(commands_, name, &described_command::name);
    if (command == commands_.end()) return describe_group(commands_, name);
    return line.starts_with(".SYNOPSIS ") ? synopsis(*command) : verb_options(*command);
  }

  void check_complete() const
  {
    if (!missing_.empty()) refuse_page(fmt::format("{} is missing", fmt::join(missing_, ", ")));
  }

 private:
  command_list commands_;
  std::set<std::string> missing_;
};

}  // namespace

std::string complete_manual(CLI::App const& program, std::string const& source)
{
  page_writer writer(program);
  std::istringstream lines(source);
  std::string page;
  for (std::string line; std::getline(lines, line);) page += writer.replace(line);
  writer.check_complete();
  return page;
}

}  // namespace fatlink::cli
