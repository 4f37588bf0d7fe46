// SPDX-License-Identifier: Apache-2.0
// fatlink-linkd: owns nvJitLink, so that what crashes or hangs it takes no host down. Speaks
// detail/worker_protocol.hpp on standard input and output; ends when its host does, in the middle
// of a link, too (host_watch.hpp).
//   fatlink-linkd [LIBRARY]     LIBRARY: the nvJitLink to open; else, and if it cannot be, searched
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "detail/worker_protocol.hpp"
#include "fatlink/nvjitlink.hpp"
#include "host_watch.hpp"
#include "sandbox.hpp"

namespace {

using namespace fatlink;
using namespace fatlink::detail;

constexpr unsigned k_longest_link = 600;  // seconds; hosts set shorter limits themselves

bool read_all(std::span<std::byte> to)
{
  while (!to.empty()) {
    auto const got = ::read(STDIN_FILENO, to.data(), to.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to = to.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

bool write_all(bytes_view from)
{
  while (!from.empty()) {
    auto const put = ::write(STDOUT_FILENO, from.data(), from.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    from = from.subspan(static_cast<std::size_t>(put));
  }
  return true;
}

byte_buffer failure_of(error const& failed, bool is_unavailable)
{
  return encode(worker_failure{failed.where(), failed.details(), is_unavailable});
}

byte_buffer answer(nvjitlink const& library, bytes_view body)
try {
  auto const request = decode_request(body);
  std::vector<link_input> inputs;
  for (auto const& input : request.inputs)
    inputs.push_back(link_input::read(input.bytes, input.name));
  return encode(link_unchecked(library, inputs, request.options, request.emit));
} catch (unavailable_error const& failed) {
  return failure_of(failed, true);
} catch (error const& failed) {
  return failure_of(failed, false);
}

int serve(nvjitlink const& library, host_watch& watch)
{
  for (;;) {
    std::array<std::byte, k_message_header> header{};
    if (!read_all(header)) return 0;  // the host has ended
    auto const said = decode_header(header);
    byte_buffer body(said.size);
    if (said.kind != message_kind::request || !read_all(body)) return 2;
    ::alarm(k_longest_link);  // should the host be stopped
    watch.begin_link();
    auto const reply = answer(library, body);
    watch.end_link();
    ::alarm(0);
    if (!write_all(reply)) return 0;
  }
}

std::shared_ptr<nvjitlink const> open_library(char const* named)
{
  if (named == nullptr) return nvjitlink::open();
  try {
    return nvjitlink::open(std::string(named));
  } catch (unavailable_error const&) {
    return nvjitlink::open();  // the hello says which one it is
  }
}

}  // namespace

int main(int argc, char** argv)
try {
  auto const host = ::getppid();
  limit_resources();
  std::shared_ptr<nvjitlink const> library;
  try {
    library = open_library(argc > 1 ? argv[1] : nullptr);
  } catch (unavailable_error const& failed) {
    return write_all(failure_of(failed, true)) ? 5 : 2;
  }
  forbid_files_and_network();
  if (!write_all(encode(worker_hello{library->major(), library->minor(), library->path(),
                                     library->reason(), library->identity()})))
    return 0;
  static host_watch watch(host);  // its thread runs until the process ends
  return serve(*library, watch);
} catch (std::exception const& error) {
  std::fprintf(stderr, "fatlink-linkd: %s\n", error.what());
  return 2;
}
