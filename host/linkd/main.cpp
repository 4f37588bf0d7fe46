// SPDX-License-Identifier: Apache-2.0
// fatlink-linkd, the helper: runs nvJitLink or a compiler, its tool, so that an input that crashes,
// hangs or takes over the tool only fails its own request. It consists of two processes: the host
// starts the guardian (guardian.hpp), which starts the tool process (run_tool_process). Messages:
// link_helper/protocol.hpp.
//   fatlink-linkd [--tool=nvjitlink|nvrtc|libnvvm] [--memory=MIB] [--headers=FOLDER]
//                 [--allow-unconfined] [--no-search] [FILE]
// --headers: where nvrtc unpacks the headers that it brings, before it is confined. --memory:
// limits the address space, see helper_settings. --allow-unconfined: also works where the kernel
// refuses seccomp. FILE: the tool's shared library; without it, and where it cannot be opened, the
// first of its search (toolkit/toolkit_library.hpp). --no-search: FILE or none. Descriptors: 0 and
// 1 one socket to the host; 3, if a pipe, receives the reason of the end.
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <span>
#include <string_view>
#include <system_error>

#include "base/wording.hpp"
#include "guardian.hpp"
#include "link_helper/link_helper.hpp"
#include "link_helper/protocol.hpp"
#include "sandbox.hpp"
#include "serve.hpp"
#include "tool.hpp"

namespace fatlink {
namespace {

/// The descriptor of the status pipe, on which the guardian reports how the tool process ended.
constexpr int k_status_descriptor = 3;

/// Closes all descriptors except 0, 1, 2 and the status pipe. Returns the status pipe; -1 if
/// descriptor 3 is not a pipe.
int keep_own_descriptors()
{
  ::closefrom(k_status_descriptor + 1);
  struct stat facts {};
  if (::fstat(k_status_descriptor, &facts) == 0 && S_ISFIFO(facts.st_mode))
    return k_status_descriptor;
  ::close(k_status_descriptor);
  return -1;
}

constexpr int k_unavailable = 5;
constexpr char const* k_remedy =
    "links are not safe without it; allow seccomp (in a container: in its profile), or link "
    "without the sandbox: <linker_settings::allow_unconfined>";
constexpr char const* k_compile_remedy =
    "compiles are not safe without it; allow seccomp (in a container: in its profile), or compile "
    "without the sandbox: <compiler_settings::allow_unconfined>";

void end_with(pid_t parent)
{
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);  // the parent has ended before this call
}

/// @throws unavailable_error the kernel refuses seccomp, and linking without it is not allowed.
confinement confine(guardian& guard, int limits_error, detail::helper_settings const& settings)
{
  auto result = confine_tool_process(limits_error, guard.receive_confinement());
  if (result.seccomp_refusal.empty() || settings.allow_unconfined) return result;
  throw unavailable_error(
      stage_of(settings.tool),
      {.message = "fatlink-linkd cannot be confined: the kernel refuses seccomp: " +
                  result.seccomp_refusal,
       .code = error_code::helper_unconfined,
       .hint = settings.tool == detail::helper_tool::nvjitlink ? k_remedy : k_compile_remedy});
}

byte_buffer hello_of(tool const& opened, std::vector<std::string> layers)
{
  auto hello = opened.hello();
  hello.process = static_cast<std::uint32_t>(::getpid());
  hello.layers = std::move(layers);
  return detail::encode(hello);
}

/// Runs the tool process, which opens the tool, confines itself, sends the hello, and serves
/// requests. `parent`: the process ID of the guardian. `limits_error`: the result of
/// limit_resources(). Returns the exit status: 0 the host closed the socket or was idle for too
/// long, 2 it sent an invalid request, 5 there is no tool or no sandbox, which a failure message
/// has told the host.
int run_tool_process(guardian& guard, pid_t parent, int limits_error,
                     detail::helper_settings const& settings)
try {
  end_with(parent);
  collect_printed_output();
  auto const opened = open_tool(settings);
  // Where a compiler runs without its sandbox, what it writes would state the host's folder.
  if (::chdir("/") != 0 && limits_error == 0) limits_error = errno;
  if (settings.memory_mib != 0 && limits_error == 0)
    limits_error = limit_memory(settings.memory_mib);
  auto sandbox = confine(guard, limits_error, settings);
  if (!write_message(hello_of(*opened, std::move(sandbox.layers)))) return 0;
  return serve(*opened);
} catch (unavailable_error const& failure) {
  (void)write_message(encode(detail::helper_error{failure.where(), failure.details(), true}, {}));
  return k_unavailable;
} catch (std::exception const&) {
  return 2;
}

}  // namespace

}  // namespace fatlink

namespace {

using namespace fatlink;

detail::helper_tool read_tool(std::string_view name)
{
  using detail::helper_tool;
  for (auto const tool : {helper_tool::nvrtc, helper_tool::libnvvm})
    if (name == to_string(tool)) return tool;
  return helper_tool::nvjitlink;
}

detail::helper_settings read_arguments(int count, char** words)
{
  constexpr std::string_view k_tool = "--tool=";
  constexpr std::string_view k_memory = "--memory=";
  constexpr std::string_view k_headers = "--headers=";
  detail::helper_settings settings;
  for (std::string_view const word : std::span(words, static_cast<std::size_t>(count)).subspan(1))
    if (word == "--allow-unconfined")
      settings.allow_unconfined = true;
    else if (word == "--no-search")
      settings.may_search = false;
    else if (word.starts_with(k_tool))
      settings.tool = read_tool(word.substr(k_tool.size()));
    else if (word.starts_with(k_memory))
      (void)std::from_chars(word.data() + k_memory.size(), word.data() + word.size(),
                            settings.memory_mib);
    else if (word.starts_with(k_headers))
      settings.headers_folder = word.substr(k_headers.size());
    else
      settings.file = word;
  return settings;
}

int fail_to_fork(int error, detail::helper_tool tool)
{
  error_details const details{
      .message = "fatlink-linkd cannot start the process of its tool: " +
                 std::generic_category().message(error),
      .code = error_code::helper_unavailable,
      .hint = "raise the limit of the user's processes (ulimit -u) or of the container"};
  (void)write_message(encode(detail::helper_error{detail::stage_of(tool), details, true}, {}));
  return k_unavailable;
}

}  // namespace

int main(int argc, char** argv)
{
  detail::set_process_wording(detail::wording::none);  // the host puts errors in words
  auto const host = ::getppid();
  auto const status_pipe = keep_own_descriptors();
  auto const settings = read_arguments(argc, argv);
  auto const limits_error = limit_resources(settings.memory_mib);
  guardian guard(host, status_pipe);
  auto const guardian_process = ::getpid();
  auto const tool_process = guard.start_tool_process();
  if (tool_process < 0) return fail_to_fork(errno, settings.tool);
  // Both processes end without destructors and without code of the tool.
  if (tool_process == 0) ::_exit(run_tool_process(guard, guardian_process, limits_error, settings));
  ::_exit(guard.wait());
}
