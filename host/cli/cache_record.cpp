// SPDX-License-Identifier: Apache-2.0
// fatlink cache record: runs a program, lists the links and compiles that it makes, and stores them
// in a cache layer.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "cache/record.hpp"
#include "compiler/compile_record.hpp"
#include "error_report.hpp"
#include "fatlink/input.hpp"
#include "fatlink/linker.hpp"
#include "link_flags.hpp"
#include "linker/link_record.hpp"
#include "options.hpp"
#include "source_inputs.hpp"
#include "terminal/streams.hpp"
#include "util/bytes/sha256.hpp"
#include "util/files/output_file.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

struct record_arguments {
  std::vector<std::string> command;
  std::string output;
  std::string layer;
  std::vector<std::string> targets;
  bool one_copy = false;
  bool json = false;
};

/// A compile of the record. Links name its fatbin by the digest that the recorded program got.
struct compile_row {
  detail::recorded_compile compile;
  bool is_stored = false;
};

struct link_row {
  detail::recorded_link link;
  std::vector<std::string> stored = {};  ///< "sm_90 cubin" of the links that the layer has
};

struct recorded_jobs {
  std::vector<compile_row> compiles = {};
  std::vector<link_row> links = {};
};

recorded_jobs read_jobs(std::filesystem::path const& file)
{
  recorded_jobs jobs;
  for (auto const& entry : cache::read_record(file)) {
    auto const job = entry.value("job", "");
    if (job == "compile")
      jobs.compiles.push_back({detail::read_compile_record(entry)});
    else if (job == "link")
      jobs.links.push_back({detail::read_link_record(entry)});
    else
      cache::refuse_record(fmt::format("unknown job '{}'", job));
  }
  return jobs;
}

[[noreturn]] void fail_command(std::string const& command, int code)
{
  throw file_error(stage::input, {.message = fmt::format("{}: {}", command, std::strerror(code)),
                                  .input = command,
                                  .code = error_code::unreadable_file,
                                  .hint = "pass a program after --, by its name or path"});
}

/// Signals that the program ignores, and that the command must not inherit.
class default_signals {
 public:
  default_signals()
  {
    sigset_t signals;
    sigemptyset(&signals);
    for (auto const number : {SIGPIPE, SIGXFSZ}) sigaddset(&signals, number);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  ~default_signals() { posix_spawnattr_destroy(&attributes_); }
  default_signals(default_signals const&) = delete;
  default_signals& operator=(default_signals const&) = delete;
  [[nodiscard]] posix_spawnattr_t const* get() const noexcept { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

/// Starts the command with the record's file in its environment. With `json`, its standard output
/// goes to standard error, because standard output receives the JSON.
pid_t start_command(std::vector<std::string>& command, std::string const& record, bool json)
{
  std::vector<char*> words;
  for (auto& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (json) posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  default_signals const signals;
  ::setenv(cache::k_record_variable, record.c_str(), 1);
  pid_t process = 0;
  auto const code =
      ::posix_spawnp(&process, words.front(), &actions, signals.get(), words.data(), environ);
  ::unsetenv(cache::k_record_variable);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) fail_command(command.front(), code);
  return process;
}

/// Runs the command. Returns its exit status, or 128 and the number of the signal that ended it.
int run_command(std::vector<std::string> command, std::string const& record, bool json)
{
  constexpr int k_signal_status = 128;
  (void)std::fflush(stdout);
  auto const process = start_command(command, record, json);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0)
    if (errno != EINTR) fail_command(command.front(), errno);
  return WIFSIGNALED(status) ? k_signal_status + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Makes the jobs of a record again, and stores them in a layer.
class layer_writer {
 public:
  explicit layer_writer(record_arguments const& arguments)
      : arguments_(arguments),
        targets_(parse_targets(arguments.targets)),
        linker_(link_flags{}.linker()),
        compiler_(compile_flags{}.compiler())
  {
  }

  void store(compile_row& row)
  {
    auto const& compile = row.compile;
    row.is_stored = compile.code.language() == source_language::cuda;
    auto result = row.is_stored
                      ? compiler_.compile_into(arguments_.layer, compile.code, compile.options)
                      : compiler_.compile(compile.code, compile.options);
    if (!row.is_stored)
      print_warnings(
          {fmt::format("{}: layers do not hold compiled LLVM IR; compile it before, with "
                       "fatlink compile, and pass the fatbin",
                       compile.code.name())});
    compiled_.insert_or_assign(compile.result, std::move(result.code));
  }

  void store(link_row& row)
  {
    std::vector<fatbin> modules;
    for (auto const& input : row.link.inputs) modules.push_back(load(input));
    for (auto const& options : requests(row.link.options)) {
      if (!stored_.insert(link_key(modules, options, "").name()).second) continue;
      auto const image =
          linker_.link_into(arguments_.layer, modules, options,
                            arguments_.one_copy ? layer_hosts::unnamed : layer_hosts::all);
      print_warnings(image.warnings);
      row.stored.push_back(fmt::format("{} {}", options.target.name(), to_string(options.emit)));
    }
  }

 private:
  /// The links to store for a recorded one: as it is, if a layer can hold it; with --target, PTX
  /// for the reference device also as cubins for these targets, and cubins for these targets only.
  [[nodiscard]] std::vector<link_options> requests(link_options const& recorded) const
  {
    std::vector<link_options> list;
    auto const is_cubin = recorded.emit == image_kind::cubin;
    if (recorded.emit == image_kind::ptx || (is_cubin && targets_.empty()))
      list.push_back(recorded);
    if (!is_cubin && recorded.emit != image_kind::ptx && recorded.emit != image_kind::ptx_set)
      return list;
    for (auto const& target : targets_) {
      list.push_back(recorded);
      list.back().target = target;
      list.back().emit = image_kind::cubin;
    }
    return list;
  }

  fatbin load(detail::recorded_input const& input)
  {
    if (auto const found = compiled_.find(input.digest); found != compiled_.end())
      return found->second;
    if (input.file.empty()) return fatbin::from_bytes(cache::from_digits(input.bytes), input.name);
    auto const file = input::read(input.file);
    auto const& module = file.modules().front();
    if (detail::to_hexadecimal(module.digest()) == input.digest) return module;
    throw file_error(
        stage::input,
        {.message = fmt::format("{}: the file has changed since it was recorded", input.file),
         .input = input.file,
         .code = error_code::digest_mismatch,
         .hint = "record it again: fatlink cache record -- COMMAND"});
  }

  record_arguments const& arguments_;
  std::vector<target> targets_;
  linker linker_;
  compiler compiler_;
  std::map<std::string, fatbin> compiled_;  ///< by recorded digest
  std::set<std::string> stored_;            ///< keys of links
};

void write_layer(recorded_jobs& jobs, record_arguments const& arguments)
{
  layer_writer writer(arguments);
  for (auto& row : jobs.compiles) writer.store(row);
  for (auto& row : jobs.links) writer.store(row);
}

std::vector<std::string> names_of_inputs(detail::recorded_link const& link)
{
  std::vector<std::string> names;
  for (auto const& input : link.inputs) names.push_back(input.name);
  return names;
}

nlohmann::json to_json(compile_row const& row)
{
  auto const& options = row.compile.options;
  auto targets = nlohmann::json::array();
  for (auto const* list : {&options.architectures, &options.sass})
    for (auto const& architecture : *list) targets.push_back(architecture.name());
  return {{"source", row.compile.code.name()},
          {"file", row.compile.file},
          {"language", to_string(row.compile.code.language())},
          {"contract", options.contract},
          {"targets", std::move(targets)},
          {"stored", row.is_stored}};
}

nlohmann::json to_json(link_row const& row)
{
  auto const& options = row.link.options;
  return {{"inputs", names_of_inputs(row.link)}, {"target", options.target.name()},
          {"mode", to_string(options.mode)},     {"kind", to_string(options.emit)},
          {"kernels", options.kernels},          {"stored", row.stored}};
}

void print_row(compile_row const& row)
{
  auto const object = to_json(row);
  auto const contract = object["contract"].get<std::string>();
  fmt::print("compile  {:<18}  {}{}{}\n",
             fmt::format("{}", fmt::join(object["targets"].get<std::vector<std::string>>(), ",")),
             row.compile.code.name(), contract.empty() ? "" : ", contract " + contract,
             row.is_stored ? "  (stored)" : "");
}

void print_row(link_row const& row)
{
  auto const& options = row.link.options;
  fmt::print("link     {:<18}  {}{}\n",
             fmt::format("{} {} {}", options.target.name(), to_string(options.mode),
                         to_string(options.emit)),
             fmt::join(names_of_inputs(row.link), " + "),
             row.stored.empty() ? "" : fmt::format("  (stored: {})", fmt::join(row.stored, ", ")));
}

/// `status`: of the command; none: no command was run.
void print_report(recorded_jobs const& jobs, record_arguments const& arguments,
                  std::optional<int> status)
{
  auto links = nlohmann::json::array();
  auto compiles = nlohmann::json::array();
  for (auto const& row : jobs.compiles) compiles.push_back(to_json(row));
  for (auto const& row : jobs.links) links.push_back(to_json(row));
  if (arguments.json)
    return print_json("fatlink.cache-record/1",
                      {{"status", status ? nlohmann::json(*status) : nlohmann::json()},
                       {"record", arguments.output},
                       {"layer", arguments.layer},
                       {"compiles", std::move(compiles)},
                       {"links", std::move(links)}});
  for (auto const& row : jobs.compiles) print_row(row);
  for (auto const& row : jobs.links) print_row(row);
  fmt::print("Links: {}; compiles: {}{}\n", links.size(), compiles.size(),
             arguments.layer.empty() ? "; --layer FOLDER stores them in a layer" : "");
}

void check_record_arguments(record_arguments const& arguments)
{
  if (arguments.command.empty() && arguments.output.empty())
    fail_usage(
        "no command: there is nothing to record", "COMMAND",
        "write it after --: fatlink cache record -- COMMAND; or name an existing record with "
        "--output");
  if (!arguments.output.empty() && is_standard_output(arguments.output))
    fail_usage("--output: a record is a file", arguments.output, "name a file");
  if (!arguments.layer.empty()) return;
  if (arguments.one_copy)
    fail_usage("--one-copy without --layer: there is no layer", "--one-copy",
               "remove --one-copy, or name a folder with --layer");
  if (!arguments.targets.empty())
    fail_usage("--target without --layer: nothing is linked", "--target",
               "remove --target, or name a folder with --layer");
}

/// The program of a command that runs has the record's path, so it must be absolute.
int record(record_arguments arguments)
{
  check_record_arguments(arguments);
  std::unique_ptr<detail::temporary_name> temporary;
  if (arguments.output.empty())
    temporary = std::make_unique<detail::temporary_name>(
        AT_FDCWD, detail::add_random((detail::scratch_folder() / "fatlink-record").string()));
  std::filesystem::path const file =
      std::filesystem::absolute(temporary ? temporary->path() : arguments.output);
  std::optional<int> status;
  if (!arguments.command.empty()) status = run_command(arguments.command, file, arguments.json);
  std::error_code ignored;
  auto const is_empty = status && !std::filesystem::exists(file, ignored);
  auto jobs = is_empty ? recorded_jobs() : read_jobs(file);
  if (temporary) temporary->remove();
  auto const has_failed = status.value_or(0) != 0;
  if (has_failed)
    print_warnings({fmt::format("{} ended with status {}{}", arguments.command.front(), *status,
                                arguments.layer.empty() ? "" : "; no layer is written")});
  else if (!arguments.layer.empty())
    write_layer(jobs, arguments);
  print_report(jobs, arguments, status);
  return status.value_or(k_done);
}

/// The words as they were on the command line.
std::vector<std::string> without_marks(std::vector<std::string> words)
{
  for (auto& word : words)
    if (word.starts_with(k_verbatim_mark)) word.erase(0, 1);
  return words;
}

}  // namespace

void add_cache_record(CLI::App& verb, int& exit_status)
{
  auto arguments = std::make_shared<record_arguments>();
  auto* sub = verb.add_subcommand(
      "record", "Run a program, list its links and compiles, and store them in a layer.");
  sub->add_option("COMMAND", arguments->command,
                  "program to run, with its arguments, after --; without it, the record that "
                  "--output names is read")
      ->type_name("COMMAND");
  sub->add_option("-o,--output", arguments->output,
                  "file to append the record to (default: a temporary file)")
      ->type_name("FILE");
  sub->add_option("--layer", arguments->layer,
                  "folder to fill with the links and compiles, for use as a read-only layer "
                  "($FATLINK_SYSTEM_CACHE)")
      ->type_name("FOLDER");
  add_targets(*sub, arguments->targets,
              "with --layer: GPU architectures to link for, separated by commas (default: those of "
              "the run)");
  sub->add_flag("--one-copy", arguments->one_copy,
                "with --layer: halve the size of the layer; machines that set $FATLINK_NVJITLINK "
                "use it only in offline mode");
  sub->add_flag("--json", arguments->json, k_json_help);
  sub->footer(
      "Example: fatlink cache record --layer links --target sm_90 -- python3 server.py --check\n"
      "Exit status: that of COMMAND if it is not 0 (128 and the signal's number if a signal ended "
      "it);\n"
      "no layer is written then.");
  sub->callback([arguments, &exit_status] {
    arguments->command = without_marks(arguments->command);
    exit_status = record(*arguments);
  });
}

}  // namespace fatlink::cli
