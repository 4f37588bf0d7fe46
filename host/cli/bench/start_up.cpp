// SPDX-License-Identifier: Apache-2.0
#include "bench/start_up.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <vector>

#include "bench/report.hpp"
#include "fatlink/error.hpp"
#include "terminal/interrupts.hpp"

extern char** environ;

namespace fatlink::cli {
namespace {

constexpr char const* k_phases[] = {"find", "read", "preflight", "key",   "lookup",
                                    "open", "link", "load",      "launch"};

[[noreturn]] void fail(std::string const& why)
{
  throw unavailable_error(stage::report, {.message = fmt::format("timing a start: {}", why),
                                          .code = error_code::start_up_failed,
                                          .hint = "run the same command by hand to see why"});
}

/// Standard output of a child, and how long it took from start to end.
struct outcome {
  double ms = 0;
  std::string said;
};

outcome run_child(std::vector<std::string> words)
{
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  auto const start = std::chrono::steady_clock::now();
  int process = 0;
  auto const code =
      ::posix_spawn(&process, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  outcome seen;
  char buffer[4096];
  for (ssize_t got = 0; code == 0 && (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    seen.said.append(buffer, static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  if (code != 0 || ::waitpid(process, &status, 0) != process || status != 0)
    fail(fmt::format("fatlink {} failed", fmt::join(words.begin() + 1, words.end(), " ")));
  seen.ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return seen;
}

class starts {
 public:
  explicit starts(std::string name) : name_(std::move(name)) {}

  void add(outcome const& seen, char const* expected)
  {
    auto json = nlohmann::json::parse(seen.said);
    if (json.contains("modes")) json = json["modes"][0];
    if (json["cache"] != expected)
      fail(fmt::format("{} was a {}, not a {}; is there a layer beside the program?", name_,
                       json["cache"].get<std::string>(), expected));
    values_["process"].push_back(seen.ms);
    for (auto const* phase : k_phases)
      if (json["start_ms"].contains(phase))
        values_[phase].push_back(json["start_ms"][phase].get<double>());
  }

  [[nodiscard]] nlohmann::json row(char const* cache) const
  {
    nlohmann::json made{{"verb", name_}, {"cache", cache}};
    for (auto const& [phase, values] : values_) made[phase + "_ms"] = median(values);
    return made;
  }

 private:
  std::string name_;
  std::map<std::string, std::vector<double>> values_;
};

/// A folder for a cache and an output, gone at the end; the children see it in their environment.
class scratch {
 public:
  scratch()
  {
    auto pattern = (std::filesystem::temp_directory_path() / "fatlink-bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) fail("no temporary folder");
    path_ = pattern;
    ::setenv("FATLINK_CACHE_DIR", cache().c_str(), 1);
    ::setenv("FATLINK_SYSTEM_CACHE", "", 1);  // a link that is shipped would be no miss
  }
  ~scratch()
  {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch(scratch const&) = delete;
  scratch& operator=(scratch const&) = delete;
  [[nodiscard]] std::filesystem::path cache() const { return path_ / "cache"; }
  [[nodiscard]] std::string output() const { return path_ / "out.cubin"; }
  void empty() const { std::filesystem::remove_all(cache()); }

 private:
  std::filesystem::path path_;
};

}  // namespace

nlohmann::json bench_starts(std::filesystem::path const& library,
                            std::filesystem::path const& transform, std::string const& target,
                            unsigned rounds)
{
  deferred_interrupts const interrupts;  // the folder goes first, then the process
  scratch const folder;
  std::vector<std::vector<std::string>> const commands{
      {"fatlink", "link", "--json", "--target", target, "-o", folder.output(), library, transform},
      {"fatlink", "run", "--json", "--mode", "lto", "--library", library, "--transform",
       transform}};
  auto rows = nlohmann::json::array();
  for (auto const& command : commands) {
    starts cold(command[1]);
    starts warm(command[1]);
    for (unsigned i = 0; i < rounds; ++i) {
      if (interrupts.is_pending()) fail("a signal ends it");
      folder.empty();
      std::filesystem::remove(folder.output());
      cold.add(run_child(command), "miss");
      std::filesystem::remove(folder.output());
      warm.add(run_child(command), "hit");
    }
    rows.push_back(cold.row("cold"));
    rows.push_back(warm.row("warm"));
    rows.back()["times_faster"] =
        rows[rows.size() - 2]["process_ms"].get<double>() / rows.back()["process_ms"].get<double>();
  }
  return rows;
}

void print_starts(nlohmann::json const& rows)
{
  fmt::print("\n| start, ms | cache | whole process |");
  for (auto const* phase : k_phases) fmt::print(" {} |", phase);
  fmt::print(" times faster |\n|---|---|---:|");
  for ([[maybe_unused]] auto const* phase : k_phases) fmt::print("---:|");
  fmt::print("---:|\n");
  for (auto const& row : rows) {
    fmt::print("| {} | {} | {:.2f} |", row["verb"].get<std::string>(),
               row["cache"].get<std::string>(), row["process_ms"].get<double>());
    for (auto const* phase : k_phases) {
      auto const name = std::string(phase) + "_ms";
      fmt::print(" {} |", row.contains(name) ? fmt::format("{:.3f}", row[name].get<double>()) : "");
    }
    fmt::print(" {} |\n", row.contains("times_faster")
                              ? fmt::format("{:.1f}", row["times_faster"].get<double>())
                              : "");
  }
}

}  // namespace fatlink::cli
