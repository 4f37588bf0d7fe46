// SPDX-License-Identifier: Apache-2.0
// fatlink-linkd: owns nvJitLink, so that a crash or a hang of it takes no host down. Speaks
// detail/worker_protocol.hpp on standard input and output; ends when its host does, in the middle
// of a link, too (host_watch.hpp).
//   fatlink-linkd [LIBRARY]     LIBRARY: the nvJitLink to open; else, and if it cannot be, searched
#include <unistd.h>

#include <cstdio>

#include "detail/worker_protocol.hpp"
#include "fatlink/nvjitlink.hpp"
#include "host_watch.hpp"
#include "sandbox.hpp"
#include "serve.hpp"

namespace {

using namespace fatlink;
using namespace fatlink::detail;

std::shared_ptr<nvjitlink const> open_library(char const* named)
{
  if (named == nullptr) return nvjitlink::open();
  try {
    return nvjitlink::open(std::string(named));
  } catch (unavailable_error const&) {
    return nvjitlink::open();  // the hello says which one it is
  }
}

byte_buffer hello_of(nvjitlink const& library)
{
  return encode(worker_hello{.major = library.major(),
                             .minor = library.minor(),
                             .process = static_cast<std::uint32_t>(::getpid()),
                             .path = library.path(),
                             .reason = library.reason(),
                             .identity = library.identity(),
                             .layers = {}});
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
    return write_message(encode(worker_failure{failed.where(), failed.details(), true}, {})) ? 5
                                                                                             : 2;
  }
  forbid_files_and_network();
  if (!write_message(hello_of(*library))) return 0;
  static host_watch watch(host);  // its thread runs until the process ends
  return serve(*library, watch);
} catch (std::exception const& error) {
  std::fprintf(stderr, "fatlink-linkd: %s\n", error.what());
  return 2;
}
