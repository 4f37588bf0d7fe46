// SPDX-License-Identifier: Apache-2.0
#include "link_helper/helper_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <system_error>

#include "link_helper/fail_without_helper.hpp"
#include "util/files/output_file.hpp"
#include "util/text/format.hpp"

extern char** environ;

namespace fatlink::detail {
namespace {

constexpr int k_status_descriptor = 3;
constexpr int k_longest_end_ms = 1000;
constexpr char const* k_unknown_cause = "unknown cause";
constexpr int k_status_grace_ms = 100;  ///< the guardian writes the status before it ends

constexpr std::array<std::string_view, 10> k_variables{
    "CUDA_HOME", "CUDA_PATH",    "VIRTUAL_ENV",  "CONDA_PREFIX", "LD_LIBRARY_PATH",
    "LANG",      "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"};

bool is_for_helper(std::string_view variable)
{
  auto const name = variable.substr(0, variable.find('='));
  return name.starts_with("FATLINK_") || name.starts_with("LC_") ||
         std::find(k_variables.begin(), k_variables.end(), name) != k_variables.end();
}

/// What is started: the program, as the helper with a tool.
struct start_request {
  std::string const& program;
  helper_tool tool;
};

[[noreturn]] void fail_to_start(start_request const& start, int code)
{
  auto const& program = start.program;
  auto const lacks_descriptors = code == EMFILE || code == ENFILE;
  auto const lacks_processes = code == EAGAIN || code == ENOMEM;
  fail_without_helper(start.tool,
                      detail::format("{}: {}", program, std::generic_category().message(code)),
                      program, {},
                      lacks_descriptors ? "close some files, or raise the limit (ulimit -n)"
                      : lacks_processes ? "raise the limits of processes and memory (ulimit -u, -v)"
                                        : how_to_see_why(start.tool, program));
}

struct descriptor_pair {
  std::unique_ptr<descriptor> ours;
  std::unique_ptr<descriptor> theirs;
};

/// Owns both ends, with numbers above 2: a host may have closed its standard streams, and the
/// helper needs these numbers.
descriptor_pair own(std::array<int, 2> const& ends, start_request const& start)
{
  descriptor_pair pair{std::make_unique<descriptor>(avoid_standard_streams(ends[0])), nullptr};
  auto const code = errno;
  pair.theirs = std::make_unique<descriptor>(avoid_standard_streams(ends[1]));
  if (pair.ours->get() < 0) fail_to_start(start, code);
  if (pair.theirs->get() < 0) fail_to_start(start, errno);
  return pair;
}

descriptor_pair make_socket(start_request const& start)
{
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    fail_to_start(start, errno);
  return own(ends, start);
}

descriptor_pair make_status_pipe(start_request const& start)
{
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail_to_start(start, errno);
  return own(ends, start);
}

/// A pidfd of the child `process`. -1 with errno ENOSYS if the kernel has no pidfds (before 5.3),
/// or ECHILD if the host has reaped the child, so that another process may have its ID.
std::unique_ptr<descriptor> open_pidfd(pid_t process)
{
  auto pidfd =
      std::make_unique<descriptor>(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  siginfo_t info{};
  if (pidfd->get() < 0 || ::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd->get()),
                                   &info, WEXITED | WNOHANG | WNOWAIT) == 0)
    return pidfd;
  pidfd.reset();
  errno = ECHILD;
  return std::make_unique<descriptor>(-1);
}

/// posix_spawn's settings for the helper.
class spawn_settings {
 public:
  spawn_settings(int socket, int status)
  {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, socket, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, socket, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, status, k_status_descriptor);
    posix_spawn_file_actions_addclosefrom_np(&actions_, k_status_descriptor + 1);
    posix_spawnattr_init(&attributes_);
    sigset_t no_signals;
    sigset_t all_signals;
    sigemptyset(&no_signals);
    sigfillset(&all_signals);
    posix_spawnattr_setsigmask(&attributes_, &no_signals);
    posix_spawnattr_setsigdefault(&attributes_, &all_signals);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~spawn_settings()
  {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  spawn_settings(spawn_settings const&) = delete;
  spawn_settings& operator=(spawn_settings const&) = delete;

  /// Returns the process. @throws unavailable_error
  [[nodiscard]] pid_t spawn(start_request const& start, std::vector<std::string> arguments) const
  {
    auto const& program = start.program;
    arguments.insert(arguments.begin(), program);
    auto environment = helper_environment();
    pid_t process = -1;
    auto const code = ::posix_spawn(&process, program.c_str(), &actions_, &attributes_,
                                    pointers_to(arguments).data(), pointers_to(environment).data());
    if (code != 0) fail_to_start(start, code);
    return process;
  }

 private:
  static std::vector<char*> pointers_to(std::vector<std::string>& texts)
  {
    std::vector<char*> pointers;
    for (auto& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

std::string describe_exit(siginfo_t const& info)
{
  if (info.si_code == CLD_EXITED) return detail::format("exit status {}", info.si_status);
  auto const* const name = sigabbrev_np(info.si_status);
  return name == nullptr ? detail::format("signal {}", info.si_status)
                         : detail::format("SIG{}", name);
}

/// Whether `line` is what a guardian writes: the name of a signal or an exit status.
bool is_status(std::string const& line)
{
  return (line.starts_with("SIG") || line.starts_with("exit status ")) &&
         std::all_of(line.begin(), line.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == ' ' || c == '+'; });
}

bool wait_until_readable(int file, int timeout_ms)
{
  pollfd poll_entry{.fd = file, .events = POLLIN, .revents = 0};
  int ready_count = 0;
  do ready_count = ::poll(&poll_entry, 1, timeout_ms);
  while (ready_count < 0 && errno == EINTR);
  return ready_count > 0;
}

}  // namespace

std::vector<std::string> helper_environment()
{
  std::vector<std::string> variables;
  for (auto** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    if (is_for_helper(*variable)) variables.emplace_back(*variable);
  return variables;
}

helper_process::helper_process(std::string const& program, helper_tool tool,
                               std::vector<std::string> const& arguments)
    : owner_(::getpid())
{
  start_request const start{program, tool};
  auto socket = make_socket(start);
  auto status = make_status_pipe(start);
  process_ = spawn_settings(socket.theirs->get(), status.theirs->get()).spawn(start, arguments);
  pidfd_ = open_pidfd(process_);
  if (pidfd_->get() < 0 && errno != ENOSYS) process_ = -1;  // another process may have this ID
  socket_ = std::move(socket.ours);
  status_ = std::move(status.ours);
}

helper_process::~helper_process()
{
  if (!is_abandoned_ && ::getpid() == owner_) (void)end();
}

bool helper_process::is_idle() const noexcept
{
  if (has_ended_ || is_abandoned_) return false;
  pollfd conversation{.fd = socket_->get(), .events = POLLIN | POLLRDHUP, .revents = 0};
  return ::poll(&conversation, 1, 0) == 0;
}

std::string helper_process::end()
{
  if (has_ended_) return {};
  has_ended_ = true;
  auto status = read_status();
  ::shutdown(socket_->get(), SHUT_RDWR);  // also in copies that a forked child holds
  if (pidfd_->get() >= 0)
    (void)::syscall(SYS_pidfd_send_signal, pidfd_->get(), SIGKILL, nullptr, 0);
  auto const exit_status = reap();
  return status.empty() ? exit_status : status;
}

/// What the guardian wrote about the end of the tool process; empty if nothing valid.
std::string helper_process::read_status()
{
  pollfd conversation{.fd = socket_->get(), .events = POLLRDHUP, .revents = 0};
  auto const has_hung_up = ::poll(&conversation, 1, 0) > 0;
  if (!wait_until_readable(status_->get(), has_hung_up ? k_status_grace_ms : 0)) return {};
  std::array<char, 64> text{};
  auto const size = ::read(status_->get(), text.data(), text.size());
  std::string line(text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  auto const end = std::min(line.size(), line.find('\n'));
  if (end + 1 < line.size())
    (void)std::from_chars(&line[end + 1], line.data() + line.size(), peak_kib_);
  line.resize(end);
  return is_status(line) ? line : std::string();
}

/// Waits for the end of the process, at most a second. The host may reap it meanwhile.
std::string helper_process::reap()
{
  auto const has_pidfd = pidfd_->get() >= 0;
  if (!has_pidfd && process_ < 0) return k_unknown_cause;
  if (has_pidfd) (void)wait_until_readable(pidfd_->get(), k_longest_end_ms);
  auto const kind = has_pidfd ? static_cast<idtype_t>(P_PIDFD) : P_PID;
  auto const id = static_cast<id_t>(has_pidfd ? pidfd_->get() : process_);
  for (int wait_ms = 0; wait_ms < k_longest_end_ms; ++wait_ms) {
    siginfo_t info{};
    auto const result = ::waitid(kind, id, &info, WEXITED | WNOHANG);
    if (result == 0 && info.si_pid != 0) return describe_exit(info);
    if ((result < 0 && errno != EINTR) || has_pidfd) break;
    ::usleep(1000);
  }
  return k_unknown_cause;
}

}  // namespace fatlink::detail
