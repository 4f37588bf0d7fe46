// SPDX-License-Identifier: Apache-2.0
#include "run/watch.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "error_report.hpp"
#include "fatlink/error.hpp"
#include "fatlink/linker.hpp"

namespace fatlink::cli {
namespace {

constexpr int k_quiet_ms = 50;
constexpr std::uint32_t k_changes = IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE;

std::filesystem::path folder_of(std::filesystem::path const& file)
{
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

}  // namespace

file_watch::file_watch(std::vector<std::filesystem::path> const& files,
                       std::vector<std::filesystem::path> const& folders)
    : inotify_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK))
{
  for (auto const& file : files) {
    names_.insert(file.filename().string());
    add(folder_of(file));
  }
  for (auto const& folder : folders) {
    add(folder);
    whole_.insert(::inotify_add_watch(inotify_.get(), folder.c_str(), k_changes));
  }
}

void file_watch::add(std::filesystem::path const& folder)
{
  if (::inotify_add_watch(inotify_.get(), folder.c_str(), k_changes) >= 0) return;
  auto const reason = std::generic_category().message(errno);
  throw file_error(stage::input,
                   {.message = fmt::format("{}: cannot be watched: {}", folder.string(), reason),
                    .input = folder.string(),
                    .code = error_code::unreadable_file,
                    .hint = "name a folder that exists; raise fs.inotify.max_user_watches if it "
                            "is too small"});
}

std::string file_watch::read_events(int timeout_ms)
{
  pollfd entry{.fd = inotify_.get(), .events = POLLIN, .revents = 0};
  if (::poll(&entry, 1, timeout_ms) <= 0) return {};
  alignas(inotify_event) std::array<char, 16384> buffer{};
  auto const size = ::read(inotify_.get(), buffer.data(), buffer.size());
  std::string name;
  for (ssize_t offset = 0; offset + static_cast<ssize_t>(sizeof(inotify_event)) <= size;) {
    inotify_event event{};
    std::memcpy(&event, buffer.data() + offset, sizeof event);
    std::string const file =
        event.len == 0 ? std::string() : buffer.data() + offset + sizeof(inotify_event);
    if (name.empty() && (names_.contains(file) || whole_.contains(event.wd))) name = file;
    offset += static_cast<ssize_t>(sizeof event + event.len);
  }
  return name;
}

std::string file_watch::wait()
{
  std::string name;
  while (name.empty()) name = read_events(-1);
  while (!read_events(k_quiet_ms).empty()) continue;
  return name;
}

void run_on_changes(std::vector<std::filesystem::path> const& files,
                    std::vector<std::filesystem::path> const& folders,
                    std::function<void()> const& work)
{
  fatlink::linker const keeps_helpers;
  file_watch changes(files, folders);
  for (;;) {
    try {
      work();
    } catch (std::exception const& failure) {
      (void)report_failure(failure, false);
    }
    fmt::print("waiting for changes of {}\n", files.front().string());
    std::fflush(stdout);
    fmt::print("\n{} changed\n", changes.wait());
  }
}

}  // namespace fatlink::cli
