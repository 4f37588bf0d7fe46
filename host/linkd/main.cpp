// SPDX-License-Identifier: Apache-2.0
// fatlink-linkd, the link helper: runs nvJitLink, so that an input that crashes, hangs or takes
// over nvJitLink only fails its own link. It consists of two processes: the host starts the
// guardian (guardian.hpp), which starts the linking process (linking_process.hpp). Messages:
// link_helper/protocol.hpp.
//   fatlink-linkd [--allow-unconfined] [--no-search] [FILE]
// --allow-unconfined: also links where the kernel refuses seccomp. FILE: the libnvJitLink.so.13 to
// open; without it, and where it cannot be opened, the first that nvjitlink::open finds.
// --no-search: FILE or none. Descriptors: 0 and 1 one socket to the host; 3, if a pipe, receives
// the reason of the end.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "descriptors.hpp"
#include "guardian.hpp"
#include "limits.hpp"
#include "link_helper/protocol.hpp"
#include "linking_process.hpp"
#include "serve.hpp"

namespace {

using namespace fatlink;

constexpr int k_unavailable = 5;

linking_settings read_arguments(int count, char** words)
{
  linking_settings settings;
  for (int i = 1; i < count; ++i)
    if (std::strcmp(words[i], "--allow-unconfined") == 0)
      settings.allow_unconfined = true;
    else if (std::strcmp(words[i], "--no-search") == 0)
      settings.may_search = false;
    else
      settings.nvjitlink = words[i];
  return settings;
}

int fail_to_fork(int error)
{
  error_details const details{
      .message = "fatlink-linkd cannot start the process that links: " +
                 std::generic_category().message(error),
      .code = error_code::helper_unavailable,
      .hint = "raise the limit of the user's processes (ulimit -u) or of the container"};
  (void)write_message(encode(detail::helper_failure{stage::linker, details, true}, {}));
  return k_unavailable;
}

}  // namespace

int main(int argc, char** argv)
{
  auto const host = ::getppid();
  auto const status_pipe = keep_own_descriptors();
  auto const limits_error = limit_resources();
  guardian guard(host, status_pipe);
  auto const guardian_process = ::getpid();
  auto const linking_process = guard.start_linking_process();
  if (linking_process < 0) return fail_to_fork(errno);
  // Both processes end without destructors and without code of nvJitLink.
  if (linking_process == 0)
    ::_exit(run_linking_process(guard, guardian_process, limits_error, read_arguments(argc, argv)));
  ::_exit(guard.wait());
}
