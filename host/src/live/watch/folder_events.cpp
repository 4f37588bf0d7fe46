// SPDX-License-Identifier: Apache-2.0
#include "live/watch/folder_events.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <deque>
#include <system_error>
#include <utility>

#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

namespace fs = std::filesystem;

constexpr int k_most_links = 40;  // as Linux follows

class step_finder {
 public:
  std::vector<path_step> find(fs::path const& path)
  {
    prepend(path);
    while (!names_.empty())
      if (!take(next_name())) break;
    return std::move(steps_);
  }

 private:
  void prepend(fs::path const& path)
  {
    if (path.is_absolute()) folder_ = "/";
    std::deque<std::string> names;
    for (auto const& name : path.relative_path())
      if (!name.empty() && name != ".") names.push_back(name.string());
    names_.insert(names_.begin(), names.begin(), names.end());
  }

  std::string next_name()
  {
    auto name = std::move(names_.front());
    names_.pop_front();
    return name;
  }

  /// Follows one name; false where the way ends.
  bool take(std::string const& name)
  {
    if (name == "..") {
      folder_ = folder_.parent_path();
      return true;
    }
    steps_.push_back({folder_, name, names_.empty()});
    auto const path = folder_ / name;
    std::error_code failure;
    auto const type = fs::symlink_status(path, failure).type();
    if (type == fs::file_type::symlink) return follow_link(path);
    if (type == fs::file_type::directory) {
      folder_ = path;
      return true;
    }
    if (type == fs::file_type::regular) steps_.push_back({path, {}, true});
    return false;
  }

  bool follow_link(fs::path const& path)
  {
    std::error_code failure;
    auto const target = fs::read_symlink(path, failure);
    if (failure || ++links_ > k_most_links) return false;
    prepend(target);
    return true;
  }

  fs::path folder_ = "/";
  std::deque<std::string> names_;  ///< that follow `folder_`
  std::vector<path_step> steps_;
  int links_ = 0;
};

}  // namespace

std::vector<path_step> steps_to(fs::path const& path)
{
  return step_finder().find(path);
}

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t k_names =
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF;
constexpr std::uint32_t k_contents = IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB;
/// After these, a path may lead through other folders.
constexpr std::uint32_t k_moves = k_names | IN_IGNORED | IN_UNMOUNT | IN_Q_OVERFLOW;
constexpr int k_most_walks = 5;

/// File systems on which other machines, or a server, change files without an event here.
bool is_remote(fs::path const& folder)
{
  constexpr std::array<std::uint32_t, 12> k_remote{
      0x6969,      // NFS
      0x517B,      // SMB
      0xFF534D42,  // CIFS
      0xFE534D42,  // SMB 2
      0x00C36400,  // Ceph
      0x5346414F,  // AFS
      0x73757245,  // Coda
      0x01021997,  // 9P
      0x65735546,  // FUSE
      0x0BD00BD0,  // Lustre
      0x47504653,  // GPFS
      0x19830326,  // BeeGFS
  };
  struct statfs status {};
  if (::statfs(folder.c_str(), &status) != 0) return false;
  auto const type = static_cast<std::uint32_t>(status.f_type);
  return std::ranges::find(k_remote, type) != k_remote.end();
}

std::string errno_name(int code)
{
  switch (code) {
    case EMFILE:
      return "EMFILE";
    case ENFILE:
      return "ENFILE";
    case ENOMEM:
      return "ENOMEM";
    case ENOSPC:
      return "ENOSPC";
    case ENOSYS:
      return "ENOSYS";
    default:
      return detail::format("errno {}", code);
  }
}

}  // namespace

folder_events::folder_events(bool use_inotify) : use_inotify_(use_inotify)
{
  open();
}

folder_events::~folder_events()
{
  close();
}

void folder_events::open()
{
  process_ = ::getpid();
  is_stale_ = true;
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (!use_inotify_) return;
  inotify_ = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (inotify_ >= 0) return;
  give_up(errno, "inotify cannot be opened",
          "raise the sysctl fs.inotify.max_user_instances, or the limit on open files (ulimit -n)");
}

void folder_events::close() noexcept
{
  if (inotify_ >= 0) ::close(std::exchange(inotify_, -1));
  if (wake_ >= 0) ::close(std::exchange(wake_, -1));
  names_.clear();
}

/// The descriptors are shared with the parent, which must get its own events.
void folder_events::reopen_after_fork()
{
  if (process_ == ::getpid()) return;
  close();
  open();
}

void folder_events::give_up(int code, char const* cause, char const* remedy)
{
  warnings_.push_back(
      {.message = detail::format("{}: {}; files are checked for changes every {} ms", cause,
                                 std::generic_category().message(code), k_short_interval.count()),
       .code = vendor_code(errno_name(code)),
       .hint = remedy});
  if (inotify_ >= 0) ::close(std::exchange(inotify_, -1));
  names_.clear();
}

std::set<path_step> folder_events::find_steps(std::vector<fs::path> const& files) const
{
  std::set<path_step> steps;
  for (auto const& file : files)
    for (auto& step : steps_to(file)) steps.insert(std::move(step));
  return steps;
}

void folder_events::follow(std::vector<fs::path> const& files)
{
  reopen_after_fork();
  if (inotify_ < 0) return;
  read_events();
  has_event_ = false;  // the caller looks at the files now
  if (!is_stale_ && files == files_) return;
  files_ = files;
  auto steps = find_steps(files);
  for (int i = 0; i < k_most_walks && inotify_ >= 0; ++i) {
    watch(steps);
    auto current = find_steps(files);
    is_stale_ = current != steps;
    if (!is_stale_) return;
    steps = std::move(current);
  }
}

void folder_events::watch(std::set<path_step> const& steps)
{
  is_blind_ = false;
  std::map<int, std::set<std::string>> watched;
  for (auto step = steps.begin(); step != steps.end() && inotify_ >= 0;) {
    auto const& folder = step->folder;
    auto mask = k_names;
    std::set<std::string> names;
    for (; step != steps.end() && step->folder == folder; ++step) {
      names.insert(step->name);
      if (step->is_file) mask |= k_contents;
    }
    watch_folder(folder, mask, names, watched);
  }
  if (inotify_ < 0) return;
  for (auto const& [descriptor, names] : names_)
    if (!watched.contains(descriptor)) ::inotify_rm_watch(inotify_, descriptor);
  names_ = std::move(watched);
}

void folder_events::watch_folder(fs::path const& folder, std::uint32_t mask,
                                 std::set<std::string> const& names,
                                 std::map<int, std::set<std::string>>& watched)
{
  auto const descriptor =
      ::inotify_add_watch(inotify_, folder.c_str(), mask | IN_MASK_ADD | IN_DONT_FOLLOW);
  if (descriptor >= 0) {
    watched[descriptor].insert(names.begin(), names.end());
    is_blind_ |= is_remote(folder);
  } else if (errno == ENOSPC || errno == ENOMEM) {
    give_up(errno, "inotify cannot watch another folder",
            "raise the sysctl fs.inotify.max_user_watches");
  } else {
    is_blind_ = true;  // cannot be read, or is gone
  }
}

bool folder_events::concerns(int descriptor, std::uint32_t mask, char const* name)
{
  if ((mask & IN_Q_OVERFLOW) != 0) return true;
  auto const names = names_.find(descriptor);
  if (names == names_.end()) return false;
  return *name == '\0' || names->second.contains(name);
}

/// Takes all events that are there, and notes those that concern a followed file.
void folder_events::read_events()
{
  alignas(inotify_event) std::array<char, 16384> buffer;
  for (;;) {
    auto const size = ::read(inotify_, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;
    for (auto const* next = buffer.data(); next < buffer.data() + size;) {
      inotify_event event{};
      std::memcpy(&event, next, sizeof event);
      auto const* const name = event.len == 0 ? "" : next + sizeof event;
      if (concerns(event.wd, event.mask, name)) {
        has_event_ = true;
        is_stale_ |= (event.mask & k_moves) != 0;
      }
      next += sizeof event + event.len;
    }
  }
}

bool folder_events::wait(clock::time_point deadline)
{
  reopen_after_fork();
  auto const is_followed = has_events() && !is_stale_ && wake_ >= 0;
  auto const end =
      std::min(deadline, clock::now() + (is_followed ? k_long_interval : k_short_interval));
  while (!is_interrupted_) {
    if (std::exchange(has_event_, false)) return true;
    auto const rest = std::chrono::ceil<std::chrono::milliseconds>(end - clock::now());
    if (rest.count() <= 0) break;
    std::array<::pollfd, 2> ready{{{inotify_, POLLIN, 0}, {wake_, POLLIN, 0}}};
    (void)::poll(ready.data(), ready.size(), static_cast<int>(rest.count()));
    std::uint64_t count = 0;
    if ((ready[1].revents & POLLIN) != 0) (void)!::read(wake_, &count, sizeof count);
    if (inotify_ >= 0) read_events();
  }
  return false;
}

void folder_events::interrupt() noexcept
{
  is_interrupted_ = true;
  std::uint64_t const one = 1;
  if (wake_ >= 0) (void)!::write(wake_, &one, sizeof one);
}

std::vector<error_details> folder_events::take_warnings()
{
  return std::exchange(warnings_, {});
}

}  // namespace fatlink::detail
