// SPDX-License-Identifier: Apache-2.0
#include "source_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <exception>
#include <iterator>
#include <optional>
#include <thread>

#include "compiler/installed_contract.hpp"
#include "error_report.hpp"
#include "installed.hpp"
#include "options.hpp"
#include "terminal/streams.hpp"
#include "util/process/parallel.hpp"

namespace fatlink::cli {
namespace {

bool is_digit(char letter)
{
  return std::isdigit(static_cast<unsigned char>(letter)) != 0;
}

/// "75" or "90a".
bool is_number(std::string const& word)
{
  auto const end = std::ranges::find_if_not(word, is_digit);
  return end != word.begin() && (end == word.end() || std::string(end, word.end()) == "a" ||
                                 std::string(end, word.end()) == "f");
}

/// @throws usage_error `word` begins with a digit and is not an architecture: "7.5".
void refuse_spelling(std::string const& option, std::string const& word)
{
  std::string digits;
  std::ranges::copy_if(word, std::back_inserter(digits), is_digit);
  auto const known = known_targets();
  auto const is_known = std::ranges::any_of(
      known, [&](target const& candidate) { return candidate.name() == "sm_" + digits; });
  fail_usage(fmt::format("{}: '{}' is not an architecture{}", option, word,
                         did_you_mean(is_known ? digits : "")),
             word, "write it as 75, 90a or sm_75; separate several by commas: 75,90");
}

/// "sm_75" of "75" and "sm_75".
std::vector<target> parse_architectures(std::string const& option, std::vector<std::string> words)
{
  for (auto& word : words)
    if (is_number(word))
      word.insert(0, "sm_");
    else if (!word.empty() && is_digit(word.front()))
      refuse_spelling(option, word);
  return parse_targets(words);
}

void add_architectures(CLI::App& verb, std::string const& name, std::vector<std::string>& words,
                       std::string const& help)
{
  add_texts(verb, name, words, "ARCHITECTURE", help)->delimiter(',');
}

/// @throws usage_error it is not a contract's name.
void check_contract(std::string const& name)
{
  if (name.ends_with(".cuh") || name.ends_with(".h"))
    fail_usage(fmt::format("--contract: '{}' is a header, not the name of a contract", name), name,
               fmt::format("include it with --header {}", name));
  auto const slash = name.find('/');
  if (slash == std::string::npos) return;
  auto const stem = name.substr(0, slash);
  auto const is_path = stem.empty() || stem.front() == '.';
  fail_usage(fmt::format("--contract: '{}' is not the name of a contract{}", name,
                         is_path ? "" : fmt::format("; did you mean '{}'?", stem)),
             name, "name it without folder and version; see fatlink list --kind contract");
}

/// The contract that an input states; empty if none does.
std::string find_input_contract(std::vector<std::optional<input>> const& inputs)
{
  for (auto const& file : inputs)
    if (auto const* const ident = file ? find_contract(*file) : nullptr) return ident->contract;
  return {};
}

/// A source, and where its input belongs.
struct job {
  fatlink::source code;
  std::string contract = {};  ///< of its macros, where nothing else states one
  std::size_t index = 0;
  std::optional<compiled_source> result = {};
  header_lookups lookups = {};
  std::exception_ptr failure = {};
};

/// Compiles all jobs, at most one for each core at once; also into `layer`, unless it is empty.
void compile_all(std::vector<job>& jobs, compiler& tool, compile_options const& options,
                 std::filesystem::path const& layer)
{
  auto const compile = [&](job& next) {
    try {
      auto own = options;
      if (!next.contract.empty()) own.contract = next.contract;
      next.result = layer.empty() ? tool.compile(next.code, own, &next.lookups)
                                  : tool.compile_into(layer, next.code, own);
      if (!layer.empty()) next.lookups.found = next.result->headers;
    } catch (...) {
      next.failure = std::current_exception();
    }
  };
  if (jobs.size() == 1) return compile(jobs.front());
  auto const cores = std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
  std::atomic<std::size_t> next = 0;
  auto const take_jobs = [&] {
    for (auto index = next++; index < jobs.size(); index = next++) compile(jobs[index]);
  };
  auto const helpers = detail::start_helpers(std::min(cores, jobs.size()) - 1, take_jobs);
  take_jobs();
}

void add_source(compile_report& report, std::filesystem::path const& file,
                compiled_source const& result)
{
  report.sources.push_back({.file = file,
                            .producer = result.producer,
                            .cache = result.cache,
                            .ms = result.times.open_ms + result.times.compile_ms});
  report.warnings.insert(report.warnings.end(), result.warnings.begin(), result.warnings.end());
}

void add_headers(compile_report& report, header_lookups const& lookups)
{
  report.headers.insert(report.headers.end(), lookups.found.begin(), lookups.found.end());
  report.missing.insert(report.missing.end(), lookups.missing.begin(), lookups.missing.end());
}

}  // namespace

compile_options compile_flags::make_options() const
{
  check_contract(options.contract);
  auto result = options;
  result.architectures = architectures.empty() && sass.empty()
                             ? std::vector<target>{"sm_75"}
                             : parse_architectures("--arch", architectures);
  result.sass = parse_architectures("--sass", sass);
  if (use_fast_math)
    result.float_flags = {.ftz = true, .prec_div = false, .prec_sqrt = false, .fmad = true};
  return result;
}

void compile_flags::warn_of_missing_folders() const
{
  std::error_code ignored;
  for (auto const& folder : options.include_folders)
    if (!std::filesystem::is_directory(folder, ignored))
      print_warnings(
          {fmt::format("{} (-I) is {}: it is not searched for headers", folder.string(),
                       std::filesystem::exists(folder, ignored) ? "not a folder" : "not there")});
}

void compile_flags::refuse_source_options() const
{
  auto const fail_option = [](char const* option, std::string const& value) {
    fail_usage(
        fmt::format("{} {}: this option has no effect: no input is a source", option, value),
        option,
        fmt::format("leave out {}, or pass a source: .cu, or .ll and .bc for LLVM IR", option));
  };
  if (!options.contract.empty()) fail_option("--contract", options.contract);
  if (!options.header.empty()) fail_option("--header", options.header.string());
  if (!options.include_folders.empty()) fail_option("-I", options.include_folders.front().string());
  if (!options.definitions.empty()) fail_option("-D", options.definitions.front());
  if (options.standard != compile_options{}.standard) fail_option("--std", options.standard);
}

compiler compile_flags::compiler() const
{
  return fatlink::compiler({.time_limit = to_milliseconds(limit_s),
                            .memory_limit_mib = memory_mib,
                            .cache = cache_unless(no_cache),
                            .allow_unconfined = allow_unconfined,
                            .offline = offline});
}

std::shared_ptr<link_cache> cache_unless(bool no_cache)
{
  return no_cache ? nullptr : std::make_shared<link_cache>(default_cache_settings());
}

std::chrono::milliseconds to_milliseconds(double seconds)
{
  return std::chrono::milliseconds(static_cast<long>(seconds * 1000));
}

void add_offline(CLI::App& verb, bool& offline)
{
  verb.add_flag("--offline", offline,
                "use only links and compiled sources of cache layers, and fail if one is missing; "
                "the same as FATLINK_OFFLINE=1")
      ->excludes("--no-cache");
}

void add_source_flags(CLI::App& verb, compile_flags& flags)
{
  group_scope const scope(verb, k_source_group);
  auto* contract =
      verb.add_option(
              "--contract", flags.options.contract,
              "installed contract to compile against; its header is included before the source, "
              "and the fatbin states the contract (default: the contract of the first other input, "
              "or else of the macros that define hooks in the source, such as FATLINK_COMBINE)")
          ->type_name("CONTRACT");
  verb.add_option("--header", flags.options.header,
                  "header to include instead of a contract's; the fatbin then states no contract")
      ->type_name("HEADER")
      ->excludes(contract);
  add_texts(verb, "-I,--include-folder", flags.options.include_folders, "FOLDER",
            "folder to search for headers, before CUDA's folders");
  add_texts(verb, "-D,--define", flags.options.definitions, "MACRO",
            "macro to define: NAME, NAME=VALUE or NAME(x)=VALUE");
  add_choice(verb, "--std", flags.options.standard, {"c++03", "c++11", "c++14", "c++17", "c++20"},
             "C++ standard");
  add_seconds(verb, "--compile-timeout", flags.limit_s, 0.01, 600,
              "time limit for compiling one source in fatlink-linkd, 0.01 to 600");
}

void add_compile_flags(CLI::App& verb, compile_flags& flags)
{
  add_source_flags(verb, flags);
  add_architectures(verb, "--arch", flags.architectures,
                    "architectures of PTX and LTO-IR, such as 75,90a (default: 75); with --sass, "
                    "the default is none;  native: this machine's GPUs; all: all supported "
                    "architectures; code for an architecture with a suffix, such as 90a, links "
                    "only for that architecture; other code also links for newer GPUs");
  add_architectures(verb, "--sass", flags.sass,
                    "architectures of cubins; these link without a compiler; CUDA C++ only");
  group_scope const scope(verb, k_more_group);
  add_switch(verb, "--ftz", flags.options.float_flags.ftz,
             "flush denormal numbers to zero; the fatbin records this and the next four options");
  add_switch(verb, "--prec-div", flags.options.float_flags.prec_div, "correctly rounded division");
  add_switch(verb, "--prec-sqrt", flags.options.float_flags.prec_sqrt,
             "correctly rounded square root");
  add_switch(verb, "--fma", flags.options.float_flags.fmad, "fuse multiplication and addition");
  verb.add_flag("--use-fast-math", flags.use_fast_math,
                "same as --ftz 1 --prec-div 0 --prec-sqrt 0 --fma 1");
  exclude_float_flags(verb);
  verb.add_flag("--line-info", flags.options.line_info, "add source lines for profilers");
  add_seconds(verb, "--timeout", flags.limit_s, 0.01, 600, "same as --compile-timeout");
  add_count(verb, "--memory-limit", flags.memory_mib, {64, 65536},
            "memory limit for the compiler in MiB, 64 to 65536");
  verb.add_flag("--no-cache", flags.no_cache, "do not read or write the cache");
  add_offline(verb, flags.offline);
  verb.add_flag("--allow-unconfined", flags.allow_unconfined,
                "compile without the sandbox if the kernel refuses it; fatlink-linkd then runs "
                "without seccomp, with a warning");
}

std::vector<input> read_inputs(std::vector<std::filesystem::path> const& files,
                               compile_flags const& flags, compile_report* report,
                               std::optional<input> first)
{
  std::vector<std::optional<input>> inputs(files.size());
  if (first) inputs.front() = std::move(first);
  std::vector<job> jobs;
  for (std::size_t i = 0; i < files.size(); ++i)
    if (is_source_name(files[i]))
      jobs.push_back({.code = source::read(files[i]), .index = i});
    else if (!inputs[i])
      inputs[i] = input::read(files[i]);
  if (jobs.empty()) {
    flags.refuse_source_options();
  } else {
    auto options = flags.make_options();
    flags.warn_of_missing_folders();
    if (options.contract.empty() && options.header.empty())
      options.contract = find_input_contract(inputs);
    if (options.contract.empty() && options.header.empty())
      for (auto& each : jobs) each.contract = detail::contract_of_macros(each.code.text());
    auto tool = flags.compiler();
    compile_all(jobs, tool, options, flags.layer);
  }
  if (report != nullptr)
    for (auto const& done : jobs) add_headers(*report, done.lookups);
  for (auto& done : jobs) {
    if (done.failure) std::rethrow_exception(done.failure);
    print_warnings(done.result->warnings);
    if (report != nullptr) add_source(*report, files[done.index], *done.result);
    inputs[done.index] = input(done.result->code);
  }
  std::vector<input> all;
  for (auto& file : inputs) all.push_back(std::move(*file));
  return all;
}

std::vector<input> read_inputs(std::vector<std::string> const& names, compile_flags const& flags,
                               compile_report* report)
{
  std::vector<std::filesystem::path> files;
  for (auto const& name : names) files.push_back(input_file(name));
  return read_inputs(files, flags, report);
}

void keep_headers(std::vector<std::filesystem::path> const& headers,
                  std::vector<std::string> const& outputs)
{
  std::error_code ignored;
  for (auto const& file : outputs) {
    if (is_standard_output(file)) continue;
    for (auto const& header : headers)
      if (std::filesystem::equivalent(header, file, ignored))
        fail_usage(fmt::format("{} is a header of the source", file), file,
                   "name another file with --output");
  }
}

}  // namespace fatlink::cli
