// SPDX-License-Identifier: Apache-2.0
#include "bench/start_up.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <vector>

#include "bench/child_process.hpp"
#include "bench/median.hpp"
#include "bench/nvcc_times.hpp"
#include "fatlink/error.hpp"
#include "terminal/interrupts.hpp"

namespace fatlink::cli {
namespace {

constexpr char const* k_phases[] = {"find", "read", "preflight", "key",   "lookup",
                                    "open", "link", "load",      "launch"};

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
                      verb_, output["cache"].get<std::string>(), expected_outcome));
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

void print_nvcc(nlohmann::json const& nvcc)
{
  fmt::print("| nvcc {}, to a fatbin | | {:.2f} | {:.2f} |", nvcc["version"].get<std::string>(),
             nvcc["process_ms"].get<double>(), nvcc["cpu_ms"].get<double>());
  for ([[maybe_unused]] auto const* phase : k_phases) fmt::print(" |");
  fmt::print(" |\n");
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

void print_starts(nlohmann::json const& report)
{
  if (report["starts"].empty()) return;
  fmt::print("\n| start, ms | cache | whole process | processor |");
  for (auto const* phase : k_phases) fmt::print(" {} |", phase);
  fmt::print(" times faster |\n|---|---|---:|---:|");
  for ([[maybe_unused]] auto const* phase : k_phases) fmt::print("---:|");
  fmt::print("---:|\n");
  for (auto const& row : report["starts"]) {
    fmt::print("| {} | {} | {:.2f} | {:.2f} |", row["verb"].get<std::string>(),
               row["cache"].get<std::string>(), row["process_ms"].get<double>(),
               row["cpu_ms"].get<double>());
    for (auto const* phase : k_phases) {
      auto const key = std::string(phase) + "_ms";
      fmt::print(" {} |", row.contains(key) ? fmt::format("{:.3f}", row[key].get<double>()) : "");
    }
    fmt::print(" {} |\n", row.contains("times_faster")
                              ? fmt::format("{:.1f}", row["times_faster"].get<double>())
                              : "");
  }
  if (auto const& nvcc = report["nvcc"]; !nvcc.is_null()) print_nvcc(nvcc);
}

}  // namespace fatlink::cli
