// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

// `fatlink --complete WORD...`: what a shell offers at the cursor. The scripts in host/completions
// pass the words of the command line up to the cursor and show the answer, so that they know no
// option themselves. Threads: one at a time.
//
//   <answer> ::= { <word> [ TAB <description> ] LF  |  TAB <files> LF }
//   <files>  ::= "files" SP <length> { SP <ending> }  |  "folders" SP <length>
//
// A <word> replaces the whole last word. <files>: the shell offers its files with one of the
// endings (none: all files) and its folders for the last word without its first <length> bytes.
// Nothing is printed where nothing fits.

#include <fmt/format.h>

#include <algorithm>

#include "compiler/installed_contract.hpp"
#include "fatlink/target.hpp"
#include "installed.hpp"
#include "options.hpp"

namespace fatlink::cli {
namespace {

constexpr char const* k_input_endings = ".fatbin .ptx .ltoir .cubin .o .a .so .cu .ll .bc";

/// What is offered for a word: its part that stays as it is, and the part that is completed.
struct typed {
  std::string kept;
  std::string part;

  /// `part` without what is before the last `separator`, which is kept.
  [[nodiscard]] typed after(char separator) const
  {
    auto const end = part.rfind(separator);
    if (end == std::string::npos) return *this;
    return {kept + part.substr(0, end + 1), part.substr(end + 1)};
  }

  void offer(std::string const& word, std::string const& description = "") const
  {
    if (!word.starts_with(part)) return;
    auto const text = description.substr(0, description.find_first_of("\n\t"));
    fmt::print("{}{}{}{}\n", kept, word, text.empty() ? "" : "\t", text);
  }

  void offer_files(std::string const& endings) const
  {
    fmt::print("\tfiles {} {}\n", kept.size(), endings);
  }
};

void offer_names(typed const& word, fatbin_role const* role)
{
  for (auto const& entry : list_installed(search_path()))
    if (is_used(entry) && (role == nullptr || entry.role == *role))
      word.offer(entry.name, entry.summary);
}

void offer_inputs(typed const& word, fatbin_role const* role)
{
  offer_names(word, role);
  word.offer_files(k_input_endings);
}

void offer_targets(typed const& word, std::string const& prefix = "")
{
  for (auto const& target : known_targets()) word.offer(prefix + target.name());
}

/// The items of a list with commas that it lacks.
void offer_items(typed const& word, std::vector<std::string> const& items)
{
  auto const last = word.after(',');
  for (auto const& item : items)
    if (("," + word.part).find("," + item + ",") == std::string::npos) last.offer(item);
}

void offer_target_list(typed const& word)
{
  std::vector<std::string> items;
  for (auto const& target : known_targets()) items.push_back(target.name());
  items.insert(items.end(), {"native", "all"});
  offer_items(word, items);
}

void offer_devices(typed const& word)
{
  for (auto const* device : {"gpu", "cpu", "all"}) word.offer(device);
  if (word.part.starts_with("cpu:")) offer_targets(word, "cpu:");
}

void offer_entries(typed const& word)
{
  for (auto const* kind : {"ptx:", "ltoir:", "elf:"}) offer_targets(word, kind);
}

void offer_contracts(typed const& word)
{
  for (auto const& name : detail::list_contracts()) word.offer(name);
}

void offer_codes(typed const& word)
{
  for (auto const& [code, meaning] : list_codes())
    if (code.find_first_of("… ") == std::string::npos) word.offer(code, meaning);
}

constexpr auto k_library = fatbin_role::library;
constexpr auto k_transform = fatbin_role::transform;

struct value_type {
  std::string_view name;  ///< as --help shows it
  void (*offer)(typed const&);
};
constexpr value_type k_value_types[] = {
    {"INPUT", [](typed const& word) { offer_inputs(word, nullptr); }},
    {"LIBRARY", [](typed const& word) { offer_inputs(word, &k_library); }},
    {"TRANSFORM", [](typed const& word) { offer_inputs(word, &k_transform); }},
    {"NAME", [](typed const& word) { offer_names(word, nullptr); }},
    {"CONTRACT", offer_contracts},
    {"CODE", offer_codes},
    {"TARGET", offer_target_list},
    {"ARCHITECTURE", offer_target_list},
    {"DEVICE", offer_devices},
    {"KIND:TARGET", offer_entries},
    {"SOURCE", [](typed const& word) { word.offer_files(".cu .ll .bc"); }},
    {"HEADER", [](typed const& word) { word.offer_files(".cuh .h .hpp"); }},
    {"FATBIN", [](typed const& word) { word.offer_files(".fatbin"); }},
    {"FOLDER", [](typed const& word) { fmt::print("\tfolders {}\n", word.kept.size()); }},
};

void offer_values(CLI::Option const& option, typed const& word)
{
  auto const choices = choices_of(option);
  if (option.get_delimiter() == ',' && !choices.empty()) return offer_items(word, choices);
  for (auto const& choice : choices) word.offer(choice);
  auto const type = value_type_of(option);
  if (type.starts_with("FILE")) return word.after('=').offer_files(type.substr(4));  // "FILE.npy"
  for (auto const& [name, offer] : k_value_types)
    if (name == type) offer(word);
}

CLI::Option const* find_option(CLI::App const& command, std::string const& name)
{
  auto const* const option = name.starts_with('-') ? command.get_option_no_throw(name) : nullptr;
  return option != nullptr && takes_value(*option) ? option : nullptr;
}

/// "--mode=l", "-Iinc": an option with its value in one word.
bool offer_joined_value(CLI::App const& command, std::string const& word)
{
  auto const is_long = word.starts_with("--");
  auto const end = is_long ? word.find('=') : std::size_t{2};
  if (end == std::string::npos || word.size() < end) return false;
  auto const* const option = find_option(command, word.substr(0, end));
  if (option == nullptr || (!is_long && word.size() == end)) return false;
  auto const start = end + (is_long ? 1 : 0);
  offer_values(*option, {word.substr(0, start), word.substr(start)});
  return true;
}

void offer_options(CLI::App const& command, std::string const& word)
{
  for (auto const* option : command.get_options())
    for (auto const& name : names_of(*option))
      typed{"", word}.offer(name, option->get_description());
}

void offer_arguments(CLI::App const& command, std::string const& word)
{
  for (auto const* sub : commands_of(command))
    typed{"", word}.offer(sub->get_name(), sub->get_description());
  for (auto const* option : command.get_options())
    if (option->get_positional()) offer_values(*option, {"", word});
}

/// The command that `words` name before their last one; null: the first is none.
CLI::App const* find_command(CLI::App const& program, std::span<std::string const> words)
{
  auto const* command = &program;
  for (auto const& word : words.first(words.size() - 1)) {
    auto const subcommands = commands_of(*command);
    auto const match = std::ranges::find(subcommands, word, &CLI::App::get_name);
    if (match != subcommands.end())
      command = *match;
    else if (!subcommands.empty() && !word.starts_with('-'))
      return nullptr;
  }
  return command;
}

}  // namespace

void print_completions(CLI::App const& program, std::span<std::string const> words)
{
  auto const* const command = words.empty() ? nullptr : find_command(program, words);
  if (command == nullptr) return;
  auto const& word = words.back();
  auto const* const before =
      words.size() > 1 ? find_option(*command, words[words.size() - 2]) : nullptr;
  if (before != nullptr) return offer_values(*before, {"", word});
  if (offer_joined_value(*command, word)) return;
  if (word.starts_with('-')) return offer_options(*command, word);
  offer_arguments(*command, word);
}

}  // namespace fatlink::cli
