// SPDX-License-Identifier: Apache-2.0
#include "run/watch.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <thread>

#include "error_report.hpp"
#include "fatlink/linker.hpp"
#include "terminal/standard_streams.hpp"

namespace fatlink::cli {
namespace {

constexpr std::chrono::milliseconds k_pause(100);

std::int64_t nanoseconds(timespec const& time)
{
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// By the clock that file systems use.
std::int64_t now_ns()
{
  timespec time{};
  (void)::clock_gettime(CLOCK_REALTIME_COARSE, &time);
  return nanoseconds(time);
}

}  // namespace

file_watch::file_watch() : start_ns_(now_ns()) {}

file_watch::state file_watch::look_at(std::filesystem::path const& file)
{
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  if (S_ISDIR(status.st_mode)) return {.device = status.st_dev, .inode = status.st_ino};
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = status.st_size,
          .modified_ns = nanoseconds(status.st_mtim)};
}

void file_watch::add(std::vector<std::filesystem::path> const& files)
{
  for (auto const& file : files) files_.try_emplace(file, look_at(file));
}

void file_watch::add_read(std::vector<std::filesystem::path> const& files)
{
  for (auto const& file : files) {
    auto const [entry, is_new] = files_.try_emplace(file, look_at(file));
    if (is_new && entry->second.modified_ns > start_ns_) entry->second = {};
  }
}

std::filesystem::path file_watch::find_change()
{
  std::filesystem::path changed;
  for (auto& [file, known] : files_) {
    auto const current = look_at(file);
    if (current == known) continue;
    known = current;
    if (changed.empty()) changed = file;
  }
  return changed;
}

std::filesystem::path file_watch::wait()
{
  auto changed = find_change();
  while (changed.empty()) {
    std::this_thread::sleep_for(k_pause);
    changed = find_change();
  }
  do {
    start_ns_ = now_ns();
    std::this_thread::sleep_for(k_pause);
  } while (!find_change().empty());
  return changed;
}

void run_on_changes(std::filesystem::path const& file, std::function<void(file_watch&)> const& work)
{
  fatlink::linker const keeps_helpers;
  file_watch watch;
  for (;;) {
    try {
      work(watch);
    } catch (std::exception const& failure) {
      (void)report_failure(failure, false);
    }
    fmt::print("waiting for changes of {}\n", file.string());
    std::fflush(stdout);
    if (has_output_failed()) return;
    fmt::print("\n{} changed\n", watch.wait().string());
    std::fflush(stdout);  // before what standard error gets
  }
}

}  // namespace fatlink::cli
