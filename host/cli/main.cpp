// SPDX-License-Identifier: Apache-2.0
// The program: parses the command line, runs a verb, and turns errors into exit statuses. Usage
// errors of CLI11 and of the verbs have one form: with the nearest word, and the --help that
// describes the verb.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/wording.hpp"
#include "error_report.hpp"
#include "fatlink/error.hpp"
#include "options.hpp"
#include "terminal/interrupts.hpp"
#include "terminal/streams.hpp"
#include "util/files/read_file.hpp"
#include "util/limits.hpp"
#include "verbs.hpp"

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
  for (auto const* sub : commands_of(app)) names.push_back(sub->get_name());
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

/// A word where a command of the program, or of `verb`, is expected.
usage_error unknown_command(std::string const& word, command const& verb)
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

/// CLI11's error in the program's form. `app` has parsed the command line.
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
  if (needs_command) return unknown_command(words.front(), verb);
  if (!words.empty())
    return make_error(fmt::format("unexpected argument '{}'", words.front()), see_help(verb.name));
  return make_error(message_of(refusal), see_help(verb.name));
}

/// `failure` with "see fatlink VERB --help" in its hint, for the verb that `app` has parsed.
usage_error add_help(usage_error const& failure, CLI::App const& app)
{
  auto details = failure.details();
  if (details.hint.find("--help") != std::string::npos) return failure;
  auto const help = see_help(parsed_command(app).name);
  auto const separator = details.hint.ends_with('?') ? " " : "; ";
  details.hint = details.hint.empty() ? help : details.hint + separator + help;
  return usage_error(details);
}

constexpr char const* k_footer =
    "Exit status: 0 done; 1 results do not verify; 2 usage; 3 a file cannot be read, has the "
    "wrong\n"
    "content, or cannot be written; 4 link or compile refused; 5 a device, the driver, nvJitLink "
    "or a\n"
    "compiler is missing or failed; 70 a defect in fatlink.";

struct verb {
  std::string_view name;
  void (*add)(CLI::App&, int&);
};
constexpr verb k_verbs[] = {
    {"run", add_run},         {"link", add_link},       {"check", add_check},
    {"inspect", add_inspect}, {"compile", add_compile}, {"pack", add_pack},
    {"digest", add_digest},   {"list", add_list},       {"cache", add_cache},
    {"doctor", add_doctor},   {"explain", add_explain}, {"bench", add_bench},
};

bool is_verb(std::string_view word)
{
  return std::ranges::find(k_verbs, word, &verb::name) != std::end(k_verbs);
}

/// Adds the verb `name`, or all verbs if there is no such verb, for --help. Adding all of them each
/// time would slow down links that come from the cache.
void add_verbs(CLI::App& app, std::string_view name, int& status)
{
  for (auto const& entry : k_verbs)
    if (!is_verb(name) || entry.name == name) entry.add(app, status);
}

/// An empty value is usually an unset variable of a script.
void refuse_empty_values(CLI::App& app)
{
  auto const refuse = [](std::string const& value) {
    return std::string(value.empty() ? "an empty value" : "");
  };
  for (auto* option : app.get_options())
    if (option->get_type_size() != 0) option->check(refuse);
  for (auto* verb : app.get_subcommands({})) refuse_empty_values(*verb);
}

/// Whether `word`, the first one, is neither an option nor a verb.
bool is_unknown_verb(std::string_view word)
{
  return !word.empty() && word.front() != '-' && !is_verb(word);
}

/// The words after the program's name, the last one first, as CLI11 takes them. Words after `--`
/// are files: those that begin with a dash become paths, because CLI11 would take them for options.
/// Those of `fatlink cache record` are a command, whose words get k_verbatim_mark.
std::vector<std::string> reversed_words(int argc, char** argv)
{
  std::vector<std::string> words;
  auto has_ended = false;  // the options
  auto is_command = false;
  for (auto const word :
       std::span(argv, static_cast<std::size_t>(argc)).subspan(argc > 0 ? 1 : 0)) {
    std::string const text(word);
    if (text == "--" && !has_ended) {
      has_ended = true;
      is_command = words.size() > 1 && words[0] == "cache" && words[1] == "record";
    } else if (is_command) {
      words.push_back(k_verbatim_mark + text);
    } else {
      words.push_back(has_ended && text.size() > 1 && text.front() == '-' ? "./" + text : text);
    }
  }
  std::reverse(words.begin(), words.end());
  return words;
}

std::string read_text(std::string const& file)
{
  auto const bytes = detail::read_file(file, limits::k_json_bytes, "pass a file");
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

/// What shells and the build ask; --help does not list it. False: it is none of these.
bool answer_tools(CLI::App const& app, std::span<std::string const> words)
{
  if (words.empty()) return false;
  if (words.front() == "--complete")
    print_completions(app, words.subspan(1));
  else if (words.front() == "--manual" && words.size() == 2)
    (void)std::fputs(complete_manual(app, read_text(words[1])).c_str(), stdout);
  else
    return false;
  return true;
}

int run_program(int argc, char** argv, bool json)
{
  CLI::App app(
      "Links CUDA device code at run time with nvJitLink, checks it first, and verifies the "
      "results.",
      "fatlink");
  use_help_format(app);
  app.set_version_flag("--version", "fatlink " FATLINK_VERSION, "show the version");
  app.require_subcommand(1);
  app.footer(k_footer);
  int status = k_done;
  auto const words = std::vector<std::string>(argv + std::min(argc, 1), argv + argc);
  auto const is_completion = words.size() > 1 && words.front() == "--complete";
  add_verbs(app, words.empty() ? "" : words[is_completion ? 1 : 0], status);
  refuse_empty_values(app);
  if (argc > 1 && is_unknown_verb(argv[1]))
    return report_failure(unknown_command(argv[1], {&app, app.get_name()}), json);
  try {
    if (answer_tools(app, words)) return status;
    app.parse(reversed_words(argc, argv));
  } catch (CLI::Success const& request) {
    std::ostringstream text;  // --help, --version
    auto const help_status = app.exit(request, text);
    (void)std::fputs(text.str().c_str(), stdout);
    return help_status;
  } catch (CLI::ParseError const& refusal) {
    return report_failure(translate(refusal, app), json);
  } catch (usage_error const& failure) {
    return report_failure(add_help(failure, app), json);
  } catch (std::exception const& failure) {
    // A failed write to standard output is reported once, by finish_standard_output.
    if (has_output_failed()) return k_bad_file;
    end_at_broken_pipe(failure);
    return report_failure(failure, json);
  }
  return status;
}

/// Returns `status`, or 3 if standard output could not be written.
int finish(int status)
try {
  finish_standard_output();
  return status;
} catch (file_error const& failure) {
  return report_failure(failure, false);
}

}  // namespace
}  // namespace fatlink::cli

int main(int argc, char** argv)
{
  fatlink::detail::set_process_wording(fatlink::detail::wording::program);
  fatlink::cli::prepare_standard_streams();
  fatlink::cli::remove_temporaries_on_signals();
  std::span const words(argv, static_cast<std::size_t>(argc));
  auto const options = words.first(
      static_cast<std::size_t>(std::ranges::find(words, std::string_view("--")) - words.begin()));
  auto const json = std::ranges::find(options, std::string_view("--json")) != options.end();
  return fatlink::cli::finish(fatlink::cli::run_program(argc, argv, json));
}
