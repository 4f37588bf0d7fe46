// SPDX-License-Identifier: Apache-2.0
#include "link_helper/link_helper.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <initializer_list>
#include <utility>

#include "link_helper/fail_without_helper.hpp"
#include "util/process/cancel_check.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::chrono::milliseconds k_least_start{10'000};  ///< for a compiler's helper to start

constexpr std::size_t k_block = std::size_t{1} << 20;  // bytes; memory grows as they arrive
constexpr char const* k_damaged =
    "an input may be damaged: build it again; the next link is not affected";
constexpr char const* k_killed =
    "another process killed it, or the kernel because memory ran out; the next link is not "
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
