// SPDX-License-Identifier: Apache-2.0
// The program: parses the command line, runs a verb, and turns errors into exit statuses.
#include <algorithm>
#include <cstdio>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "complete.hpp"
#include "error_report.hpp"
#include "manual.hpp"
#include "terminal/interrupts.hpp"
#include "terminal/standard_streams.hpp"
#include "usage.hpp"
#include "util/files/read_file.hpp"
#include "util/limits.hpp"
#include "verbs.hpp"
#include "wording.hpp"

namespace {

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
    {"run", fatlink::cli::add_run},         {"link", fatlink::cli::add_link},
    {"check", fatlink::cli::add_check},     {"inspect", fatlink::cli::add_inspect},
    {"compile", fatlink::cli::add_compile}, {"pack", fatlink::cli::add_pack},
    {"digest", fatlink::cli::add_digest},   {"list", fatlink::cli::add_list},
    {"cache", fatlink::cli::add_cache},     {"doctor", fatlink::cli::add_doctor},
    {"bench", fatlink::cli::add_bench},
};

/// Adds the verb `name`, or all verbs if there is no such verb, for --help. Adding all of them each
/// time would slow down links that come from the cache.
void add_verbs(CLI::App& app, std::string_view name, int& status)
{
  auto const has_name = [&](verb const& entry) { return entry.name == name; };
  auto const is_known = std::any_of(std::begin(k_verbs), std::end(k_verbs), has_name);
  for (auto const& entry : k_verbs)
    if (!is_known || has_name(entry)) entry.add(app, status);
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

std::vector<std::string> verb_names()
{
  std::vector<std::string> names;
  for (auto const& entry : k_verbs) names.emplace_back(entry.name);
  return names;
}

/// Whether `word`, the first one, is neither an option nor a verb.
bool is_unknown_verb(std::string_view word)
{
  return !word.empty() && word.front() != '-' &&
         std::none_of(std::begin(k_verbs), std::end(k_verbs),
                      [&](verb const& entry) { return entry.name == word; });
}

/// The words after the program's name, the last one first, as CLI11 takes them. Words after `--`
/// are files: those that begin with a dash become paths, because CLI11 would take them for options.
std::vector<std::string> reversed_words(int argc, char** argv)
{
  std::vector<std::string> words;
  auto has_ended = false;  // the options
  for (auto const word :
       std::span(argv, static_cast<std::size_t>(argc)).subspan(argc > 0 ? 1 : 0)) {
    std::string_view const text(word);
    if (text == "--" && !has_ended)
      has_ended = true;
    else
      words.push_back(has_ended && text.size() > 1 && text.front() == '-' ? "./" + std::string(text)
                                                                          : std::string(text));
  }
  std::reverse(words.begin(), words.end());
  return words;
}

std::string read_text(std::string const& file)
{
  auto const bytes = fatlink::detail::read_file(file, fatlink::limits::k_json_bytes, "pass a file");
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

/// What shells and the build ask; --help does not list it. False: it is none of these.
bool answer_tools(CLI::App const& app, std::span<std::string const> words)
{
  if (words.empty()) return false;
  if (words.front() == "--complete")
    fatlink::cli::print_completions(app, words.subspan(1));
  else if (words.front() == "--manual" && words.size() == 2)
    (void)std::fputs(fatlink::cli::complete_manual(app, read_text(words[1])).c_str(), stdout);
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
  app.set_version_flag("--version", "fatlink " FATLINK_VERSION);
  app.require_subcommand(1);
  app.footer(k_footer);
  int status = fatlink::cli::k_done;
  auto const words = std::vector<std::string>(argv + std::min(argc, 1), argv + argc);
  auto const is_completion = words.size() > 1 && words.front() == "--complete";
  add_verbs(app, words.empty() ? "" : words[is_completion ? 1 : 0], status);
  refuse_empty_values(app);
  if (argc > 1 && is_unknown_verb(argv[1]))
    return fatlink::cli::report_failure(fatlink::cli::unknown_command(argv[1], verb_names()), json);
  try {
    if (answer_tools(app, words)) return status;
    app.parse(reversed_words(argc, argv));
  } catch (CLI::Success const& request) {
    std::ostringstream text;  // --help, --version
    auto const help_status = app.exit(request, text);
    (void)std::fputs(text.str().c_str(), stdout);
    return help_status;
  } catch (CLI::ParseError const& refusal) {
    return fatlink::cli::report_failure(fatlink::cli::translate(refusal, app), json);
  } catch (fatlink::usage_error const& failure) {
    return fatlink::cli::report_failure(fatlink::cli::add_help(failure, app), json);
  } catch (std::exception const& failure) {
    // A failed write to standard output is reported once, by finish_standard_output.
    if (fatlink::cli::has_output_failed()) return fatlink::cli::k_bad_file;
    fatlink::cli::end_at_broken_pipe(failure);
    return fatlink::cli::report_failure(failure, json);
  }
  return status;
}

/// Returns `status`, or 3 if standard output could not be written.
int finish(int status)
try {
  fatlink::cli::finish_standard_output();
  return status;
} catch (fatlink::file_error const& failure) {
  return fatlink::cli::report_failure(failure, false);
}

}  // namespace

int main(int argc, char** argv)
{
  fatlink::detail::set_process_wording(fatlink::detail::wording::program);
  fatlink::cli::prepare_standard_streams();
  fatlink::cli::remove_temporaries_on_signals();
  std::span const words(argv, static_cast<std::size_t>(argc));
  auto const options = words.first(
      static_cast<std::size_t>(std::ranges::find(words, std::string_view("--")) - words.begin()));
  auto const json = std::ranges::find(options, std::string_view("--json")) != options.end();
  return finish(run_program(argc, argv, json));
}
