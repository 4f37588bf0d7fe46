// SPDX-License-Identifier: Apache-2.0
#include "live/watch/file_watch.hpp"

#include <sys/stat.h>

#include <ctime>

namespace fatlink::detail {
namespace {

constexpr std::chrono::milliseconds k_quiet(100);
constexpr std::chrono::milliseconds k_longest_unrest(2000);

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

file_watch::file_watch(bool use_inotify) : events_(use_inotify), start_ns_(now_ns()) {}

file_watch::state file_watch::look_at(std::filesystem::path const& file)
{
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  if (S_ISDIR(status.st_mode)) return {.device = status.st_dev, .inode = status.st_ino};
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = status.st_size,
          .modified_ns = nanoseconds(status.st_mtim),
          .changed_ns = nanoseconds(status.st_ctim)};
}

bool file_watch::insert(std::filesystem::path const& file)
{
  auto const [entry, is_new] = files_.try_emplace(file);
  if (!is_new) return false;
  entry->second.absolute = std::filesystem::absolute(file);
  absolute_.push_back(entry->second.absolute);
  return true;
}

void file_watch::add(std::vector<std::filesystem::path> const& files)
{
  for (auto const& file : files)
    if (insert(file)) files_[file].known = look_at(files_[file].absolute);
}

void file_watch::add_read(std::vector<std::filesystem::path> const& files)
{
  for (auto const& file : files) {
    if (!insert(file)) continue;
    auto& entry = files_[file];
    entry.known = look_at(entry.absolute);
    if (entry.known.changed_ns > start_ns_) entry.known = {};
  }
}

std::filesystem::path file_watch::find_change()
{
  follow();
  std::filesystem::path changed;
  for (auto& [file, entry] : files_) {
    auto const current = look_at(entry.absolute);
    if (current == entry.known) continue;
    entry.known = current;
    if (changed.empty()) changed = file;
  }
  return changed;
}

bool file_watch::is_quiet_for(std::chrono::milliseconds time)
{
  auto is_quiet = true;
  for (auto const end = clock::now() + time; clock::now() < end && !is_stopped();) {
    wait_for_event(end);
    is_quiet &= find_change().empty();
  }
  return is_quiet;
}

std::filesystem::path file_watch::wait()
{
  auto changed = find_change();
  while (changed.empty() && !is_stopped()) {
    wait_for_event(clock::time_point::max());
    changed = find_change();
  }
  auto const end = clock::now() + k_longest_unrest;
  do start_ns_ = now_ns();
  while (!is_stopped() && !is_quiet_for(k_quiet) && clock::now() < end);
  return is_stopped() ? std::filesystem::path() : changed;
}

}  // namespace fatlink::detail
