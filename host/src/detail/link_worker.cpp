// SPDX-License-Identifier: Apache-2.0
#include "detail/link_worker.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <system_error>

#include "detail/format.hpp"
#include "fatlink/linker.hpp"
#include "linker/find_link_helper.hpp"

extern char** environ;

namespace fatlink::detail {
namespace {

using clock = std::chrono::steady_clock;

/// What ended a conversation with a helper.
struct broken {
  bool timed_out = false;
};

/// posix_spawn's settings: the socket as standard input and output, no other descriptor, every
/// signal as at the start of a process.
class spawn_settings {
 public:
  explicit spawn_settings(int socket)
  {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, socket, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, socket, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~spawn_settings()
  {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  spawn_settings(spawn_settings const&) = delete;
  spawn_settings& operator=(spawn_settings const&) = delete;

  int spawn(std::string program, std::string library, int& process)
  {
    std::array<char*, 3> arguments{program.data(), library.empty() ? nullptr : library.data(),
                                   nullptr};
    return ::posix_spawn(&process, program.c_str(), &actions_, &attributes_, arguments.data(),
                         environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

std::string describe_end(int status)
{
  if (WIFSIGNALED(status)) return detail::format("SIG{}", sigabbrev_np(WTERMSIG(status)));
  return detail::format("exit status {}", WEXITSTATUS(status));
}

double seconds(std::chrono::milliseconds time)
{
  return std::chrono::duration<double>(time).count();
}

std::string names_of(link_request const& request)
{
  std::string text;
  for (auto const& input : request.inputs) text += (text.empty() ? "" : ", ") + input.name;
  return text;
}

/// Waits until the socket is ready. @throws broken at the deadline.
void wait_for(int socket, short what, clock::time_point until)
{
  for (;;) {
    auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(until - clock::now());
    if (left.count() <= 0) throw broken{.timed_out = true};
    pollfd one{.fd = socket, .events = what, .revents = 0};
    auto const ready = ::poll(&one, 1, static_cast<int>(std::min<long>(left.count(), 1 << 30)));
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) throw broken{};
  }
}

}  // namespace

void link_worker::send(bytes_view bytes, deadline until)
{
  while (!bytes.empty()) {
    wait_for(socket_, POLLOUT, until);
    auto const sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent < 0) throw broken{};
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
}

void link_worker::receive(std::span<std::byte> to, deadline until)
{
  while (!to.empty()) {
    wait_for(socket_, POLLIN, until);
    auto const got = ::recv(socket_, to.data(), to.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) throw broken{};
    to = to.subspan(static_cast<std::size_t>(got));
  }
}

link_worker::message link_worker::receive(deadline until)
{
  std::array<std::byte, k_message_header> header{};
  receive(header, until);
  message got{.header = decode_header(header), .body = {}};
  got.body.resize(got.header.size);
  receive(got.body, until);
  return got;
}

std::string link_worker::end()
{
  alive_ = false;
  int status = 0;
  // A helper that has just died may not be a zombie yet: a moment for its own status first.
  for (int i = 0; i < 50; ++i) {
    if (::waitpid(process_, &status, WNOHANG) == process_) return describe_end(status);
    ::usleep(1000);
  }
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
  return describe_end(status);
}

bool link_worker::is_alive() noexcept
{
  if (alive_ && ::waitpid(process_, nullptr, WNOHANG) != 0) alive_ = false;
  return alive_;
}

link_worker::~link_worker()
{
  ::close(socket_);
  if (!alive_) return;
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
}

std::unique_ptr<link_worker> link_worker::start(std::chrono::milliseconds limit,
                                                std::string const& library)
{
  auto const program = find_link_helper().string();
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    fail_without_helper(std::generic_category().message(errno), program);
  int process = 0;
  auto const code = spawn_settings(ends[1]).spawn(program, library, process);
  ::close(ends[1]);
  if (code != 0) {
    ::close(ends[0]);
    fail_without_helper(detail::format("{}: {}", program, std::generic_category().message(code)),
                        program);
  }
  std::unique_ptr<link_worker> made(new link_worker(process, ends[0]));
  try {
    auto const said = made->receive(clock::now() + limit);
    if (said.header.kind == message_kind::unavailable)
      throw unavailable_error(stage::linker, decode_failure(said.body, said.header.kind).details);
    made->hello_ = decode_hello(said.body);
  } catch (broken const& why) {
    fail_without_helper(
        detail::format("{} {}", program,
                       why.timed_out ? "did not start in time" : "ended with " + made->end()),
        program);
  } catch (protocol_error const& error) {
    fail_without_helper(detail::format("{}: {}", program, error.what()), program);
  }
  return made;
}

link_product link_worker::link(link_request const& request, std::chrono::milliseconds limit)
{
  auto const fail = [&](std::string const& why, std::string const& code, char const* hint) {
    throw link_error(stage::linker, {.message = detail::format("{}: {}", names_of(request), why),
                                     .input = names_of(request),
                                     .code = code,
                                     .log = {},
                                     .hint = hint});
  };
  constexpr char const* k_damaged =
      "an input is damaged: build it again; the next link is not affected";
  try {
    auto const until = clock::now() + limit;
    auto const bytes = encode(request, ++last_request_);
    auto const asked = decode_header(bytes_view(bytes).first(k_message_header)).identity;
    send(bytes, until);
    auto const said = receive(until);
    if (said.header.identity != asked) throw protocol_error("a reply to another request");
    if (said.header.kind == message_kind::product) return decode_product(said.body);
    auto const failed = decode_failure(said.body, said.header.kind);
    if (failed.is_unavailable) throw unavailable_error(failed.where, failed.details);
    throw link_error(failed.where, failed.details);
  } catch (broken const& why) {
    if (why.timed_out) ::kill(process_, SIGKILL);
    auto const how = end();
    if (why.timed_out)
      fail(detail::format("the link took longer than its time limit of {} s; nvJitLink's process "
                          "was stopped",
                          seconds(limit)),
           "ETIMEDOUT",
           "raise the time limit (--link-timeout SECONDS; in C++ the linker's limit); a damaged "
           "input can hang nvJitLink, too");
    fail(detail::format("nvJitLink's process died linking them ({})", how), how, k_damaged);
  } catch (protocol_error const& error) {
    ::kill(process_, SIGKILL);
    (void)end();
    fail(detail::format("nvJitLink's process answered nonsense: {}", error.what()), "EPROTO",
         k_damaged);
  }
  return {};
}

}  // namespace fatlink::detail
