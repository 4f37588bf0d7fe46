// SPDX-License-Identifier: Apache-2.0
#include "serve.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "link_helper/protocol.hpp"
#include "sandbox.hpp"
#include "util/bytes/sha256.hpp"
#include "util/files/output_file.hpp"

namespace fatlink {
namespace {

using namespace detail;

constexpr unsigned k_longest_request = 600;  // seconds; hosts set shorter limits themselves

bool wait_for_request(int milliseconds)
{
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  for (;;) {
    auto const count = ::poll(&input, 1, milliseconds);
    if (count >= 0 || errno != EINTR) return count > 0;
  }
}

bool read_all(std::span<std::byte> buffer)
{
  while (!buffer.empty()) {
    auto const count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    buffer = buffer.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

byte_buffer answer(tool const& opened, bytes_view body, request_identity const& identity)
try {
  return opened.answer(body, identity);
} catch (unavailable_error const& failed) {
  return encode(helper_error{failed.where(), failed.details(), true}, identity);
} catch (error const& failed) {
  return encode(helper_error{failed.where(), failed.details(), false}, identity);
}

}  // namespace

bool write_message(bytes_view message)
{
  return detail::write_all(STDIN_FILENO, message);
}

byte_buffer ask_host(bytes_view question, message_kind answer)
{
  std::array<std::byte, k_message_header> bytes{};
  if (!write_message(question) || !read_all(bytes)) ::_exit(0);
  auto const header = decode_header(bytes);
  if (header.kind != answer) ::_exit(2);
  byte_buffer body(header.size);
  if (!read_all(body)) ::_exit(0);
  return body;
}

int serve(tool const& opened)
{
  auto const idle = static_cast<int>(idle_time().count());
  while (!is_half_of_processor_time_used() && wait_for_request(idle)) {
    std::array<std::byte, k_message_header> bytes{};
    if (!read_all(bytes)) return 0;  // the host has closed the socket
    auto const header = decode_header(bytes);
    if (header.kind != opened.request_kind()) return 2;
    byte_buffer body(header.size);
    if (!read_all(body)) return 0;
    ::alarm(k_longest_request);  // in case the host is stopped
    auto const reply = answer(opened, body, {header.identity.number, sha256(body)});
    ::alarm(0);
    if (!write_message(reply)) return 0;
  }
  return 0;
}

}  // namespace fatlink
