// SPDX-License-Identifier: Apache-2.0
#include "tool_process.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "limits.hpp"
#include "link_helper/protocol.hpp"
#include "printed_output.hpp"
#include "sandbox.hpp"
#include "serve.hpp"
#include "tool.hpp"

namespace fatlink {
namespace {

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
  auto hello = opened.describe();
  hello.process = static_cast<std::uint32_t>(::getpid());
  hello.layers = std::move(layers);
  return detail::encode(hello);
}

}  // namespace

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
  (void)write_message(encode(detail::helper_failure{failure.where(), failure.details(), true}, {}));
  return k_unavailable;
} catch (std::exception const&) {
  return 2;
}

}  // namespace fatlink
