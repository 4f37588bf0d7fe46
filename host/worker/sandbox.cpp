// SPDX-License-Identifier: Apache-2.0
#include "sandbox.hpp"

#include <sys/prctl.h>

#include <cerrno>
#include <system_error>

#include "allowed_calls.hpp"
#include "capabilities.hpp"
#include "detail/format.hpp"
#include "landlock.hpp"
#include "limits.hpp"
#include "seccomp_filter.hpp"

namespace fatlink {
namespace {

std::string reason_of(int error)
{
  return std::generic_category().message(error);
}

std::string state_of(char const* name, int error)
{
  return error == 0 ? detail::format("{}: on", name)
                    : detail::format("{}: off: {}", name, reason_of(error));
}

std::string state_of(landlock_result const& result)
{
  if (result.error == 0) return detail::format("landlock: on: ABI {}", result.abi);
  return state_of("landlock", result.error);
}

int forbid_new_privileges()
{
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
}

int forbid_dumps()
{
  return ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : errno;
}

}  // namespace

confinement confine_linking_process()
{
  limit_processes();
  auto const capabilities = drop_capabilities();
  auto const privileges = forbid_new_privileges();
  auto const dumps = forbid_dumps();
  auto const landlock = deny_by_landlock(signal_scope::own_domain);
  auto const seccomp = install_seccomp_filter(seccomp_program(calls_of_linking_process()));
  return {
      .layers = {state_of("seccomp", seccomp), state_of(landlock),
                 state_of("capabilities", capabilities), state_of("no-new-privileges", privileges),
                 state_of("no-dump", dumps), "limits: on", "guardian: on"},
      .seccomp_refusal = seccomp == 0 ? "" : reason_of(seccomp)};
}

void confine_guardian(pid_t linking_process)
{
  limit_processes();
  (void)drop_capabilities();
  (void)forbid_new_privileges();
  (void)forbid_dumps();
  (void)deny_by_landlock(signal_scope::any_process);  // it was not there when its process began
  (void)install_seccomp_filter(seccomp_program(calls_of_guardian(linking_process)));
}

}  // namespace fatlink
