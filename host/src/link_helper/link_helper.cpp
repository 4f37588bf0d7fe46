// SPDX-License-Identifier: Apache-2.0
#include "link_helper/link_helper.hpp"

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
#include <initializer_list>
#include <system_error>
#include <utility>

#include "link_helper/find_link_helper.hpp"
#include "util/files/output_file.hpp"
#include "util/process/cancel_check.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::chrono::milliseconds k_least_start{10'000};  ///< for a compiler's helper to start

constexpr std::size_t k_block = std::size_t{1} << 20;  // bytes; memory grows as they arrive
constexpr char const* k_damaged =
    "an input may be damaged: build it again; the next link is not affected";
constexpr char const* k_killed =
    "another process killed it, or the kernel did when memory ran out; the next link is not "
    "affected";
constexpr char const* k_raise_limit =
    "raise <linker_settings::time_limit>; a damaged input can also make nvJitLink hang";
constexpr char const* k_raise_compile_limit =
    "raise <compiler_settings::time_limit>, or compile when the machine is less busy";

constexpr char const* k_other_version =
    "install the fatlink-linkd of this version of fatlink, or name it in FATLINK_LINKD";

/// The connection to a helper ended, or the time limit has passed.
struct broken {
  bool has_timed_out = false;
  bool is_before_reply = false;  ///< a request was sent, and no byte of its reply has arrived
};

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

/// The only place where a thread that links in a helper can be cancelled.
int poll_cancellable(pollfd& poll_entry, int timeout_ms)
{
  cancellation_guard const guard;
  cancellation_point const point(guard);
  return ::poll(&poll_entry, 1, timeout_ms);
}

/// Waits until the socket is ready. @throws broken at the time limit.
/// @throws cancelled_error of the stage `origin`.
void wait_for(int socket, short events, time_limit const& limit, stage origin)
{
  for (;;) {
    auto const time_left =
        std::chrono::ceil<std::chrono::milliseconds>(limit.end() - time_limit::clock::now());
    if (time_left.count() <= 0) throw broken{.has_timed_out = true};
    pollfd poll_entry{.fd = socket, .events = events, .revents = 0};
    auto const turn = may_be_cancelled() ? k_ask_interval.count() : 1 << 30;
    auto const ready_count =
        poll_cancellable(poll_entry, static_cast<int>(std::min<long>(time_left.count(), turn)));
    if (ready_count > 0) return;
    throw_if_cancelled(origin);
    if (ready_count < 0 && errno != EINTR) throw broken{};
  }
}

bool is_temporary(int code)
{
  return code == EINTR || code == EAGAIN;
}

/// The remedy for a helper that nvJitLink ended: it names the inputs without digests that nvJitLink
/// trusts, which are the likely cause.
std::string hint_of_damage(link_request const& request)
{
  std::string suspects;
  for (auto const& input : request.inputs)
    if (input.is_unverified_sass) suspects += (suspects.empty() ? "" : ", ") + input.name;
  if (suspects.empty()) return k_damaged;
  return detail::format(
      "the likely cause is damage to {}: SASS without a digest, which nvJitLink does not check; "
      "build it again and add digests (fatlink pack); the next link is not affected",
      suspects);
}

[[noreturn]] void fail_link(link_request const& request, std::string const& cause,
                            std::string const& code, std::string const& hint)
{
  auto const names = names_of(request);
  throw link_error(stage::linker, {.message = detail::format("{}: {}", names, cause),
                                   .input = names,
                                   .code = vendor_code(code),
                                   .hint = hint});
}

std::vector<std::string> arguments_of(helper_settings const& settings)
{
  std::vector<std::string> arguments;
  if (settings.tool != helper_tool::nvjitlink)
    arguments.push_back(detail::format("--tool={}", to_string(settings.tool)));
  if (settings.memory_mib != 0)
    arguments.push_back(detail::format("--memory={}", settings.memory_mib));
  if (!settings.headers_folder.empty())
    arguments.push_back(detail::format("--headers={}", settings.headers_folder));
  if (!settings.may_search) arguments.emplace_back("--no-search");
  if (settings.allow_unconfined) arguments.emplace_back("--allow-unconfined");
  if (!settings.file.empty()) arguments.push_back(settings.file);
  return arguments;
}

/// @throws unavailable_error or link_error, as the helper reports, if `reply` is a failure.
void throw_failure(message_header const& header, bytes_view body)
{
  if (header.kind != message_kind::failure && header.kind != message_kind::unavailable) return;
  auto const failure = decode_failure(body, header.kind);
  if (failure.is_unavailable) throw unavailable_error(failure.where, failure.details);
  throw link_error(failure.where, failure.details);
}

[[noreturn]] void fail_on_death(link_request const& request, helper_death const& death,
                                time_limit const& limit)
{
  if (death.reason == "ETIMEDOUT")
    fail_link(
        request,
        detail::format(
            "the link took longer than its time limit of {} s; nvJitLink's process was stopped",
            seconds(limit.length())),
        death.reason, k_raise_limit);
  if (death.reason == "EPROTO")
    fail_link(request, detail::format("nvJitLink's process sent no valid reply: {}", death.cause),
              death.reason, hint_of_damage(request));
  fail_link(request, detail::format("nvJitLink's process died linking them ({})", death.reason),
            death.reason, death.reason == "SIGKILL" ? k_killed : hint_of_damage(request));
}

}  // namespace

char const* to_string(helper_tool tool) noexcept
{
  switch (tool) {
    case helper_tool::nvjitlink:
      return "nvjitlink";
    case helper_tool::nvrtc:
      return "nvrtc";
    case helper_tool::libnvvm:
      break;
  }
  return "libnvvm";
}

void link_helper::send(bytes_view bytes, time_limit const& limit)
{
  while (!bytes.empty()) {
    wait_for(process_.socket(), POLLOUT, limit, stage_of(tool_));
    auto const count =
        ::send(process_.socket(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && is_temporary(errno)) continue;
    if (count < 0) throw broken{.is_before_reply = is_busy_};
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void link_helper::receive(std::span<std::byte> buffer, time_limit const& limit)
{
  while (!buffer.empty()) {
    wait_for(process_.socket(), POLLIN, limit, stage_of(tool_));
    auto const count = ::recv(process_.socket(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0 && is_temporary(errno)) continue;
    if (count <= 0) throw broken{.is_before_reply = is_busy_ && buffer.size() == k_message_header};
    buffer = buffer.subspan(static_cast<std::size_t>(count));
  }
}

link_helper::message link_helper::receive(std::initializer_list<message_kind> kinds,
                                          request_identity const& request, time_limit const& limit)
{
  std::array<std::byte, k_message_header> header{};
  receive(header, limit);
  message result{.header = decode_header(header), .body = {}};
  if (std::find(kinds.begin(), kinds.end(), result.header.kind) == kinds.end())
    throw protocol_error("a message of another kind than expected");
  if (result.header.identity != request) throw protocol_error("a reply to another request");
  while (result.body.size() < result.header.size) {
    auto const offset = result.body.size();
    result.body.resize(std::min<std::size_t>(offset + k_block, result.header.size));
    receive(std::span(result.body).subspan(offset), limit);
  }
  return result;
}

/// Sends a request, answers the look-ups of the compiler, and reads the reply. The helper stays
/// busy unless all succeed.
link_helper::message link_helper::exchange(byte_buffer const& request, message_kind expected,
                                           time_limit const& limit, file_source const& files)
{
  auto const identity = decode_header(bytes_view(request).first(k_message_header)).identity;
  is_busy_ = true;
  send(request, limit);
  for (;;) {
    auto reply = receive({expected, message_kind::failure, message_kind::unavailable,
                          files ? message_kind::look_up : expected},
                         identity, limit);
    if (reply.header.kind != message_kind::look_up) {
      is_busy_ = false;
      return reply;
    }
    send(encode(files(decode_look_up(reply.body)), identity), limit);
  }
}

link_helper::message link_helper::call(byte_buffer const& request, message_kind expected,
                                       time_limit const& limit, file_source const& files)
try {
  return exchange(request, expected, limit, files);
} catch (broken const& failure) {
  auto const exit_reason = process_.end();
  if (failure.is_before_reply && exit_reason == "exit status 0") throw helper_left{};
  throw helper_death{.reason = failure.has_timed_out ? "ETIMEDOUT" : exit_reason,
                     .peak_kib = process_.peak_kib()};
} catch (protocol_error const& error) {
  (void)process_.end();
  throw helper_death{.reason = "EPROTO", .cause = error.what()};
}

link_helper::link_helper(helper_settings const& settings, std::string program)
    : tool_(settings.tool),
      program_(std::move(program)),
      process_(program_, settings.tool, arguments_of(settings))
{
}

std::unique_ptr<link_helper> link_helper::launch(helper_settings const& settings)
{
  return std::unique_ptr<link_helper>(
      new link_helper(settings, find_helper(settings.tool).string()));
}

std::unique_ptr<link_helper> link_helper::start(helper_settings const& settings,
                                                time_limit const& limit)
{
  auto helper = launch(settings);
  helper->wait_until_started(limit);
  return helper;
}

void link_helper::wait_until_started(time_limit const& limit)
try {
  if (is_started_) return;
  // The time of a compile does not begin before its helper is there.
  auto const start_limit =
      tool_ == helper_tool::nvjitlink ? limit : time_limit(std::max(limit.length(), k_least_start));
  auto const hello = receive({message_kind::hello, message_kind::unavailable}, {}, start_limit);
  if (hello.header.kind == message_kind::unavailable) {
    auto const failure = decode_failure(hello.body, hello.header.kind);
    throw unavailable_error(failure.where, failure.details);
  }
  hello_ = decode_hello(hello.body);
  is_started_ = true;
} catch (broken const& failure) {
  auto const exit_reason = process_.end();
  if (failure.has_timed_out)
    fail_without_helper(
        tool_, detail::format("{} did not start within {} s", program_, seconds(limit.length())),
        program_, "ETIMEDOUT",
        tool_ == helper_tool::nvjitlink ? k_raise_limit : k_raise_compile_limit);
  fail_without_helper(tool_, detail::format("{} ended with {}", program_, exit_reason), program_,
                      exit_reason, how_to_see_why(tool_, program_));
} catch (protocol_error const& error) {
  fail_without_helper(tool_, detail::format("{} sent no valid hello: {}", program_, error.what()),
                      program_, "EPROTO", k_other_version);
}

link_product link_helper::link(link_request const& request, time_limit const& limit)
try {
  auto const reply = call(encode(request, ++last_request_), message_kind::product, limit);
  throw_failure(reply.header, reply.body);
  return decode_product(reply.body);
} catch (helper_death const& death) {
  fail_on_death(request, death, limit);
} catch (protocol_error const& error) {
  (void)process_.end();
  fail_on_death(request, helper_death{.reason = "EPROTO", .cause = error.what()}, limit);
}

compile_reply link_helper::compile(program const& request, time_limit const& limit,
                                   file_source const& files)
try {
  auto const reply = call(encode(request, ++last_request_), message_kind::compiled, limit, files);
  throw_failure(reply.header, reply.body);
  return decode_compiled(reply.body);
} catch (protocol_error const& error) {
  (void)process_.end();
  throw helper_death{.reason = "EPROTO", .cause = error.what()};
}

}  // namespace fatlink::detail

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

/// The environment variables that the helper receives: FATLINK_*, those that say where to search
/// for nvJitLink, the loader's search path, the locale, and the options of sanitizers.
std::vector<std::string> helper_environment()
{
  std::vector<std::string> variables;
  for (auto** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    if (is_for_helper(*variable)) variables.emplace_back(*variable);
  return variables;
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
