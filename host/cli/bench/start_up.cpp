// SPDX-License-Identifier: Apache-2.0
#include "bench/bench.hpp"
#include "compiler/installed_contract.hpp"

// Start-up: processes of this program and of nvcc, measured from outside.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <string_view>

#include "error_report.hpp"
#include "fatlink/error.hpp"
#include "fatlink/source.hpp"
#include "installed.hpp"
#include "terminal/interrupts.hpp"
#include "toolkit/toolkit_library.hpp"
#include "util/process/environment.hpp"
#include "util/process/stopwatch.hpp"

extern char** environ;

namespace fatlink::cli {
namespace {

struct child_result {
  bool has_succeeded = false;  ///< started, and ended with status 0
  double ms = 0;               ///< wall time until the process ended
  double cpu_ms = 0;           ///< user and system time of the process and its descendants
  std::string output = {};     ///< its standard output
};

/// This program, for run_child.
constexpr char const* k_this_program = "/proc/self/exe";

std::string read_to_end(int descriptor)
{
  std::string text;
  char buffer[4096];
  for (ssize_t size = 0; (size = ::read(descriptor, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(size));
  return text;
}

/// During its lifetime, processes whose parent ended become children of this process.
class subreaper {
 public:
  subreaper() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~subreaper() { ::prctl(PR_SET_CHILD_SUBREAPER, 0); }
  subreaper(subreaper const&) = delete;
  subreaper& operator=(subreaper const&) = delete;
};

/// Starts `file` in a process group of its own and with `output` as its standard output; returns
/// its process ID, or 0 if it cannot be started.
pid_t start(std::string const& file, std::vector<std::string>& words, int output)
{
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t process = 0;
  auto const code =
      ::posix_spawn(&process, file.c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return code == 0 ? process : 0;
}

double milliseconds(timeval const& time)
{
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) * 1e-3;
}

/// Waits for a process of `group`; a group is negative. Returns whether there was one.
bool wait_for(pid_t group, int& status, double& cpu_ms)
{
  rusage usage = {};
  if (::wait4(group, &status, 0, &usage) <= 0) return false;
  cpu_ms += milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
  return true;
}

/// Runs `file` with the arguments `words`, of which the first is the program's name. Standard error
/// is discarded. Waits until the process and the descendants in its process group have ended.
child_result run_child(std::string const& file, std::vector<std::string> words)
{
  child_result result;
  int pipe_ends[2];
  if (::pipe2(pipe_ends, O_CLOEXEC) != 0) return result;
  subreaper const orphans;
  detail::stopwatch watch;
  auto const process = start(file, words, pipe_ends[1]);
  ::close(pipe_ends[1]);
  if (process != 0) result.output = read_to_end(pipe_ends[0]);
  ::close(pipe_ends[0]);
  if (process == 0) return result;
  int status = 0;
  result.has_succeeded = wait_for(process, status, result.cpu_ms) && status == 0;
  result.ms = watch.lap();
  while (wait_for(-process, status, result.cpu_ms)) {
  }
  return result;
}

namespace fs = std::filesystem;

bool is_program(fs::path const& file)
{
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0;
}

/// The nvcc of PATH, otherwise that of the first toolkit that has one; empty: there is none.
std::string find_nvcc()
{
  std::vector<fs::path> folders;
  auto const search_path = detail::environment("PATH");
  for (std::string_view rest = search_path; !rest.empty();) {
    auto const end = std::min(rest.find(':'), rest.size());
    if (end > 0) folders.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (auto const& root : detail::toolkit_roots()) folders.push_back(root / "bin");
  for (auto const& folder : folders)
    if (is_program(folder / "nvcc")) return (folder / "nvcc").string();
  return {};
}

/// "13.0" of "Cuda compilation tools, release 13.0, V13.0.88"; empty if the text has none.
std::string release_in(std::string const& text)
{
  constexpr std::string_view k_mark = "release ";
  auto const start = text.find(k_mark);
  if (start == std::string::npos) return {};
  auto const first = start + k_mark.size();
  return text.substr(first, text.find(',', first) - first);
}

/// The header that was included before a source: of --header, or of the contract that the fatbin
/// made of it states.
std::string forced_header(bench_job const& job, input const& compiled)
{
  auto const& header = job.flags.sources.options.header;
  if (!header.empty()) return header.string();
  auto const* const ident = find_contract(compiled);
  return ident == nullptr ? "" : detail::find_contract(ident->contract).header_path;
}

/// Compiles the sources of a job with nvcc, each to a fatbin with LTO-IR and PTX for sm_75.
class nvcc_times {
 public:
  /// Finds nvcc: in PATH, then in the toolkits of the search. Prints a warning if the job has
  /// sources that nvcc cannot compile, or there is no nvcc. `output`: a file to write.
  nvcc_times(bench_job const& job, std::string output) : job_(job), output_(std::move(output))
  {
    for (std::size_t i = 0; i < job.files.size(); ++i) {
      if (!is_source_name(job.files[i])) continue;
      sources_.push_back(job.files[i]);
      header_ = forced_header(job, job.inputs[i]);
    }
    if (sources_.empty()) return;
    file_ = find_nvcc();
    if (file_.empty())
      skip("it is neither in PATH nor in a toolkit ($CUDA_HOME, /usr/local/cuda)");
    else
      version_ = release_in(run_child(file_, {file_, "--version"}).output);
    for (auto const& source : sources_)
      if (source.extension() != ".cu") skip(fmt::format("{} is LLVM IR", source.string()));
  }

  /// Measures one round; nothing without nvcc or sources.
  void measure()
  {
    if (file_.empty()) return;
    double process_ms = 0;
    double cpu_ms = 0;
    for (auto const& source : sources_) {
      auto const result = run_child(file_, command(source));
      if (!result.has_succeeded)
        return skip(fmt::format("{} does not compile {}", file_, source.string()));
      process_ms += result.ms;
      cpu_ms += result.cpu_ms;
    }
    process_ms_.push_back(process_ms);
    cpu_ms_.push_back(cpu_ms);
  }

  /// As docs/schemas/bench.json describes: medians of all rounds; null without any.
  [[nodiscard]] nlohmann::json row() const
  {
    if (file_.empty() || process_ms_.empty()) return nullptr;
    return {{"version", version_},
            {"file", file_},
            {"process_ms", median(process_ms_)},
            {"cpu_ms", median(cpu_ms_)}};
  }

 private:
  /// Says why nvcc is not measured.
  void skip(std::string const& reason)
  {
    print_warnings({fmt::format("nvcc is not measured: {}", reason)});
    file_.clear();
  }

  [[nodiscard]] std::vector<std::string> command(fs::path const& source) const
  {
    auto const& options = job_.flags.sources.options;
    std::vector<std::string> words{file_, "-dlto", "-fatbin", "-arch=sm_75", "-o", output_};
    if (!header_.empty()) words.push_back("--pre-include=" + header_);
    for (auto const& folder : options.include_folders) words.push_back("-I" + folder.string());
    for (auto const& definition : options.definitions) words.push_back("-D" + definition);
    words.push_back(source.string());
    return words;
  }

  bench_job const& job_;
  std::string output_;
  std::vector<std::filesystem::path> sources_;
  std::string file_;     ///< nvcc; empty: not measured
  std::string version_;  ///< "13.0"
  std::string header_;   ///< included before each source; empty: none
  std::vector<double> process_ms_;
  std::vector<double> cpu_ms_;
};

[[noreturn]] void fail_measurement(std::string const& cause)
{
  throw unavailable_error(stage::report,
                          {.message = fmt::format("measuring start-up: {}", cause),
                           .code = error_code::start_up_failed,
                           .hint = "run the same command yourself to see its error"});
}

/// @throws unavailable_error the program failed.
child_result run_program(std::vector<std::string> const& words)
{
  auto result = run_child(k_this_program, words);
  if (!result.has_succeeded)
    fail_measurement(
        fmt::format("fatlink {} failed", fmt::join(words.begin() + 1, words.end(), " ")));
  return result;
}

/// The link of `mode`, on one device, with the times of loading and launching.
nlohmann::json start_of_run(nlohmann::json const& mode)
{
  auto link = mode["links"][0];
  for (auto const* const step : {"load", "launch"})
    link["start_ms"][step] = mode["devices"][0][std::string(step) + "_ms"];
  return link;
}

/// The times of all starts of one command, by phase.
class start_times {
 public:
  explicit start_times(std::string verb) : verb_(std::move(verb)) {}

  void add(child_result const& result, char const* expected_outcome)
  {
    auto output = nlohmann::json::parse(result.output);
    if (output.contains("modes")) output = start_of_run(output["modes"][0]);
    if (output["cache"] != expected_outcome)
      fail_measurement(
          fmt::format("the cache outcome of {} was {}, not {}; remove the cache layer beside the "
                      "program",
                      verb_, output["cache"], expected_outcome));
    values_["process"].push_back(result.ms);
    values_["cpu"].push_back(result.cpu_ms);
    for (auto const* phase : k_phases)
      if (output["start_ms"].contains(phase))
        values_[phase].push_back(output["start_ms"][phase].get<double>());
  }

  [[nodiscard]] nlohmann::json row(char const* cache) const
  {
    nlohmann::json row{{"verb", verb_}, {"cache", cache}};
    for (auto const& [phase, values] : values_) row[phase + "_ms"] = median(values);
    return row;
  }

 private:
  std::string verb_;
  std::map<std::string, std::vector<double>> values_;
};

/// A temporary folder for a cache and an output. Child processes find the cache in the environment.
class scratch_folder {
 public:
  scratch_folder()
  {
    auto pattern = (std::filesystem::temp_directory_path() / "fatlink-bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) fail_measurement("cannot create a temporary folder");
    path_ = pattern;
    ::setenv("FATLINK_CACHE_DIR", cache().c_str(), 1);
    ::setenv("FATLINK_SYSTEM_CACHE", "", 1);  // a layer would turn misses into hits
  }
  ~scratch_folder()
  {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch_folder(scratch_folder const&) = delete;
  scratch_folder& operator=(scratch_folder const&) = delete;
  [[nodiscard]] std::filesystem::path cache() const { return path_ / "cache"; }
  [[nodiscard]] std::string output() const { return path_ / "out.cubin"; }
  [[nodiscard]] std::string nvcc_output() const { return path_ / "nvcc.fatbin"; }
  void remove_cache() const { std::filesystem::remove_all(cache()); }
  void remove_output() const { std::filesystem::remove(output()); }

 private:
  std::filesystem::path path_;
};

/// The rows of one command, with an empty and with a filled cache. `beside`: measured in each
/// round, too.
std::pair<nlohmann::json, nlohmann::json> measure_command(std::vector<std::string> const& command,
                                                          scratch_folder const& folder,
                                                          deferred_interrupts const& interrupts,
                                                          unsigned rounds,
                                                          std::function<void()> const& beside)
{
  start_times cold(command[1]);
  start_times warm(command[1]);
  for (unsigned round = 0; round < rounds; ++round) {
    if (interrupts.is_pending()) fail_measurement("interrupted by a signal");
    folder.remove_cache();
    folder.remove_output();
    cold.add(run_program(command), "miss");
    folder.remove_output();
    warm.add(run_program(command), "hit");
    beside();
  }
  auto rows = std::pair(cold.row("cold"), warm.row("warm"));
  rows.second["times_faster"] =
      rows.first["process_ms"].get<double>() / rows.second["process_ms"].get<double>();
  return rows;
}

/// `verb` with the mode, and with the options that decide whether the inputs link.
std::vector<std::string> base_command(char const* verb, bench_job const& job)
{
  std::vector<std::string> words{"fatlink", verb, "--json", "--mode", to_string(job.modes.back())};
  if (job.flags.options.allow_calls) words.emplace_back("--allow-calls");
  if (job.flags.options.whole_archive) words.emplace_back("--whole-archive");
  if (job.flags.allow_unconfined) words.emplace_back("--allow-unconfined");
  auto const& sources = job.flags.sources.options;
  if (!sources.contract.empty()) words.push_back("--contract=" + sources.contract);
  if (!sources.header.empty()) words.push_back("--header=" + sources.header.string());
  for (auto const& folder : sources.include_folders)
    words.push_back("--include-folder=" + folder.string());
  for (auto const& definition : sources.definitions) words.push_back("--define=" + definition);
  return words;
}

std::vector<std::string> link_command(bench_job const& job, target target,
                                      std::string const& output)
{
  auto words = base_command("link", job);
  for (auto const& kernel : job.flags.options.kernels) words.push_back("--kernel=" + kernel);
  words.insert(words.end(), {"--target", target.name(), "--output", output});
  words.insert(words.end(), job.files.begin(), job.files.end());
  return words;
}

std::vector<std::string> run_command(bench_job const& job)
{
  auto words = base_command("run", job);
  if (!job.flags.options.kernels.empty() && job.is_implied)
    words.push_back("--kernel=" + job.kernel());
  words.push_back("--library=" + job.files.front().string());
  for (auto file = job.files.begin() + 1; file != job.files.end(); ++file)
    words.push_back("--transform=" + file->string());
  for (auto const& value : job.values) words.push_back("--set=" + value);
  return words;
}

}  // namespace

void measure_starts(nlohmann::json& report, bench_job const& job, target target)
{
  deferred_interrupts const interrupts;  // outlives the folder, so a signal leaves no folder behind
  scratch_folder const folder;
  nvcc_times nvcc(job, folder.nvcc_output());
  auto rows = nlohmann::json::array();
  auto const measure = [&](std::vector<std::string> const& command,
                           std::function<void()> const& beside) {
    auto const [cold, warm] = measure_command(command, folder, interrupts, job.rounds, beside);
    rows.push_back(cold);
    rows.push_back(warm);
  };
  measure(link_command(job, target, folder.output()), [&] { nvcc.measure(); });
  auto const has_gpu = !report["device"].is_null();
  if (has_gpu || (job.modes.back() == link_mode::lto && !job.flags.options.allow_calls))
    measure(run_command(job), [] {});
  report["starts"] = rows;
  report["nvcc"] = nvcc.row();
}

}  // namespace fatlink::cli
