// SPDX-License-Identifier: Apache-2.0
// fatlink-linkd, the helper: runs nvJitLink or a compiler, its tool, so that an input that crashes,
// hangs or takes over the tool only fails its own request. It consists of two processes: the host
// starts the guardian (guardian.hpp), which starts the tool process (tool_process.hpp). Messages:
// link_helper/protocol.hpp.
//   fatlink-linkd [--tool=nvjitlink|nvrtc|libnvvm] [--memory=MIB] [--headers=FOLDER]
//                 [--allow-unconfined] [--no-search] [FILE]
// --headers: where nvrtc unpacks the headers that it brings, before it is confined. --memory:
// limits the address space, see helper_settings. --allow-unconfined: also works where the kernel
// refuses seccomp. FILE: the tool's shared library; without it, and where it cannot be opened, the
// first of its search (toolkit/vendor_library.hpp). --no-search: FILE or none. Descriptors: 0 and 1
// one socket to the host; 3, if a pipe, receives the reason of the end.
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <span>
#include <string_view>
#include <system_error>

#include "descriptors.hpp"
#include "guardian.hpp"
#include "limits.hpp"
#include "link_helper/protocol.hpp"
#include "serve.hpp"
#include "tool_process.hpp"
#include "wording.hpp"

namespace {

using namespace fatlink;

constexpr int k_unavailable = 5;

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
  (void)write_message(encode(detail::helper_failure{detail::stage_of(tool), details, true}, {}));
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
