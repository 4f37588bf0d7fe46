// SPDX-License-Identifier: Apache-2.0
#include "usage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "options.hpp"

namespace fatlink::cli {
namespace {

/// The last command that was parsed, and its full name: "fatlink cache warm".
struct command {
  CLI::App const* app;
  std::string name;
};

command parsed_command(CLI::App const& app)
{
  command last{&app, app.get_name()};
  for (auto parsed = app.get_subcommands(); !parsed.empty(); parsed = last.app->get_subcommands()) {
    last.app = parsed.back();
    last.name += ' ' + last.app->get_name();
  }
  return last;
}

usage_error make_error(std::string message, std::string hint,
                       error_code code = error_code::invalid_argument)
{
  return usage_error({.message = std::move(message), .code = code, .hint = std::move(hint)});
}

std::string see_help(std::string const& name)
{
  return fmt::format("see {} --help", name);
}

std::vector<std::string> subcommands_of(CLI::App const& app)
{
  std::vector<std::string> names;
  for (auto const* sub : app.get_subcommands([](CLI::App const*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

std::vector<std::string> long_options_of(CLI::App const& app)
{
  std::vector<std::string> names;
  for (auto const* option : app.get_options())
    for (auto const& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// "--use-fast-math" of nvcc's "-use_fast_math".
std::string long_name_of(std::string name)
{
  if (name.starts_with("--") || name.size() < 3) return name;
  std::ranges::replace(name, '_', '-');
  return '-' + name;
}

/// Of the verbs that do not run on a device of choice.
usage_error unknown_device_option(command const& verb)
{
  auto const* const meant = verb.name == "fatlink bench"
                                ? "bench measures the first GPU; CUDA_VISIBLE_DEVICES selects it"
                            : verb.app->get_option_no_throw("--target") != nullptr
                                ? "it takes targets, not devices: --target sm_90, or all"
                                : "only fatlink run takes devices";
  return make_error("unknown option '--device'", fmt::format("{}; {}", meant, see_help(verb.name)),
                    error_code::unknown_option);
}

usage_error unknown_option(std::string const& word, command const& verb)
{
  auto const name = word.substr(0, word.find('='));
  if (name == "--device") return unknown_device_option(verb);
  auto const near = suggest(long_options_of(*verb.app), long_name_of(name));
  return make_error(fmt::format("unknown option '{}'{}", name, did_you_mean(near)),
                    see_help(verb.name), error_code::unknown_option);
}

/// A word where a command of `verb` is expected.
usage_error unknown_subcommand(std::string const& word, command const& verb)
{
  auto const commands = subcommands_of(*verb.app);
  auto const prefix = verb.name.substr(std::min(verb.name.size(), sizeof "fatlink"));
  auto const spaced = prefix.empty() ? "" : prefix + ' ';
  auto const near = suggest(commands, word);
  return make_error(
      fmt::format("unknown command '{}{}'{}", spaced, word,
                  did_you_mean(near.empty() ? "" : spaced + near)),
      fmt::format("the commands are {}; {}", fmt::join(commands, ", "), see_help(verb.name)),
      error_code::unknown_command);
}

usage_error missing_subcommand(command const& verb)
{
  return make_error("a subcommand is required",
                    fmt::format("the commands are {}; {}",
                                fmt::join(subcommands_of(*verb.app), ", "), see_help(verb.name)));
}

/// The text on both sides of `separator`, as in CLI11's "--a excludes --b"; empty without it.
std::pair<std::string, std::string> halves(std::string const& text, std::string const& separator)
{
  auto const middle = text.find(separator);
  if (middle == std::string::npos) return {};
  return {text.substr(0, middle), text.substr(middle + separator.size())};
}

std::string message_of(CLI::ParseError const& refusal)
{
  std::string text = refusal.what();
  text.erase(std::min(text.find('\n'), text.size()));
  if (auto const [first, second] = halves(text, " excludes "); !second.empty())
    return fmt::format("{} and {} cannot be used together", first, second);
  if (auto const [name, count] = halves(text, ": At Most 1 required but received "); !count.empty())
    return fmt::format("{} takes one value, but {} are given", name, count);
  if (text.ends_with(" missing")) return halves(text, ":").first + " needs a value";
  return text;
}

/// Verbs that link a library with transforms name each of them by an option.
std::string hint_for_argument(std::string const& word, command const& verb)
{
  auto const help = see_help(verb.name);
  if (verb.app->get_option_no_throw("--transform") == nullptr) return help;
  return fmt::format("write --transform {0}, or --library {0}; {1}", word, help);
}

}  // namespace

usage_error unknown_command(std::string const& word, std::vector<std::string> const& commands)
{
  return make_error(
      fmt::format("unknown command '{}'{}", word, did_you_mean(suggest(commands, word))),
      fmt::format("the commands are {}; {}", fmt::join(commands, ", "), see_help("fatlink")),
      error_code::unknown_command);
}

usage_error translate(CLI::ParseError const& refusal, CLI::App const& app)
{
  auto const verb = parsed_command(app);
  auto const needs_command =
      verb.app->get_require_subcommand_min() > 0 && verb.app->get_subcommands().empty();
  auto words = verb.app->remaining();
  if (needs_command) std::erase(words, "--json");  // every command has this option
  auto const is_option = [](std::string const& word) {
    return word.starts_with('-') && word.size() > 1;
  };
  // A misspelt option makes CLI11 report a missing one, too; the misspelling is the cause.
  if (auto const option = std::find_if(words.begin(), words.end(), is_option);
      option != words.end())
    return unknown_option(*option, verb);
  if (needs_command && words.empty()) return missing_subcommand(verb);
  if (needs_command) return unknown_subcommand(words.front(), verb);
  if (!words.empty())
    return make_error(fmt::format("unexpected argument '{}'", words.front()),
                      hint_for_argument(words.front(), verb));
  return make_error(message_of(refusal), see_help(verb.name));
}

usage_error add_help(usage_error const& failure, CLI::App const& app)
{
  auto details = failure.details();
  if (details.hint.find("--help") != std::string::npos) return failure;
  auto const help = see_help(parsed_command(app).name);
  auto const separator = details.hint.ends_with('?') ? " " : "; ";
  details.hint = details.hint.empty() ? help : details.hint + separator + help;
  return usage_error(details);
}

}  // namespace fatlink::cli
