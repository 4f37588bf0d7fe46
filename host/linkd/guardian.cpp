// SPDX-License-Identifier: Apache-2.0
#include "guardian.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <type_traits>

namespace fatlink {
namespace {

constexpr timespec k_interval{.tv_sec = 0, .tv_nsec = 250'000'000};  // without a pidfd

void do_nothing(int /*signal*/) {}

/// Makes SIGCHLD interrupt only ppoll.
void receive_child_signals_in_ppoll()
{
  struct sigaction action {};
  action.sa_handler = do_nothing;
  ::sigaction(SIGCHLD, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);  // a host that does not read the status
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
}

void receive_signals_as_at_start()
{
  ::signal(SIGCHLD, SIG_DFL);
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

int open_process(pid_t process)
{
  return static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
}

int exit_status_of(int status)
{
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// "SIGSEGV" or "exit status 2", then the most memory used in KiB, a line each. Allocates no
/// memory, which the guardian's filter may refuse.
int write_end_report(int status, long peak_kib, std::array<char, 64>& text)
{
  if (!WIFSIGNALED(status))
    return std::snprintf(text.data(), text.size(), "exit status %d\n%ld\n", WEXITSTATUS(status),
                         peak_kib);
  auto const* const name = sigabbrev_np(WTERMSIG(status));
  if (name != nullptr)
    return std::snprintf(text.data(), text.size(), "SIG%s\n%ld\n", name, peak_kib);
  return std::snprintf(text.data(), text.size(), "signal %d\n%ld\n", WTERMSIG(status), peak_kib);
}

}  // namespace

guardian::guardian(pid_t host, int status_pipe) : host_(host), status_pipe_(status_pipe)
{
  receive_child_signals_in_ppoll();
}

pid_t guardian::start_tool_process()
{
  tool_process_ = ::fork();
  if (tool_process_ == 0) {
    receive_signals_as_at_start();
    if (status_pipe_ >= 0) ::close(status_pipe_);
  }
  return tool_process_;
}

std::optional<guardian_errors> guardian::receive_confinement() noexcept
{
  return confinement_.receive();
}

int guardian::wait()
{
  ::close(STDOUT_FILENO);
  host_descriptor_ = open_process(host_);
  confinement_.send(confine_guardian(tool_process_));
  int status = 0;
  rusage usage{};
  while (::wait4(tool_process_, &status, WNOHANG, &usage) == 0) {
    if (!has_host_left()) continue;
    ::kill(tool_process_, SIGKILL);  // it was not reaped yet, so the ID is still its own
    while (::wait4(tool_process_, &status, 0, &usage) < 0 && errno == EINTR) continue;
    break;
  }
  report(status, usage.ru_maxrss);
  return exit_status_of(status);
}

/// Waits for an event. Returns whether the host has ended or closed the socket.
bool guardian::has_host_left() const
{
  std::array<pollfd, 2> waits{{{.fd = STDIN_FILENO, .events = POLLRDHUP, .revents = 0},
                               {.fd = host_descriptor_, .events = POLLIN, .revents = 0}}};
  sigset_t none;
  sigemptyset(&none);
  auto const ready_count =
      ::ppoll(waits.data(), waits.size(), host_descriptor_ < 0 ? &k_interval : nullptr, &none);
  return ready_count > 0 || ::getppid() != host_;
}

void guardian::report(int status, long peak_kib) const
{
  if (status_pipe_ < 0) return;
  std::array<char, 64> text{};
  auto const size = write_end_report(status, peak_kib, text);
  if (::write(status_pipe_, text.data(), static_cast<std::size_t>(size)) < 0) return;
}

static_assert(std::is_trivially_copyable_v<guardian_errors>);

confinement_pipe::confinement_pipe() noexcept
{
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  reader_ = ends[0];
  writer_ = ends[1];
}

void confinement_pipe::send(guardian_errors const& errors) const noexcept
{
  if (::write(writer_, &errors, sizeof(errors)) < 0) return;  // the tool process has ended
}

std::optional<guardian_errors> confinement_pipe::receive() noexcept
{
  ::close(writer_);
  guardian_errors errors;
  ssize_t size = 0;
  do size = ::read(reader_, &errors, sizeof(errors));
  while (size < 0 && errno == EINTR);
  ::close(reader_);
  if (size != static_cast<ssize_t>(sizeof(errors))) return {};
  return errors;
}

}  // namespace fatlink
