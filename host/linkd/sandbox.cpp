// SPDX-License-Identifier: Apache-2.0
#include "sandbox.hpp"

#include <sys/prctl.h>

#include <cerrno>
#include <system_error>

#include "allowed_calls.hpp"
#include "capabilities.hpp"
#include "landlock.hpp"
#include "limits.hpp"
#include "seccomp_filter.hpp"
#include "util/text/format.hpp"

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

/// Appends "without NAME: REASON" for a layer that the guardian lacks.
void append_missing(std::string& missing, char const* name, int error)
{
  if (error == 0) return;
  missing +=
      detail::format("{}without {}: {}", missing.empty() ? ": " : "; ", name, reason_of(error));
}

/// An unconfined guardian still counts as on: it reads nothing that an input can influence.
std::string state_of(std::optional<guardian_errors> const& guardian)
{
  if (!guardian) return "guardian: off: it did not report its confinement";
  std::string missing;
  append_missing(missing, "seccomp", guardian->seccomp);
  append_missing(missing, "landlock", guardian->landlock);
  append_missing(missing, "capabilities", guardian->capabilities);
  append_missing(missing, "no-new-privileges", guardian->privileges);
  append_missing(missing, "no-dump", guardian->dumps);
  append_missing(missing, "limits", guardian->limits);
  return "guardian: on" + missing;
}

}  // namespace

confinement confine_tool_process(int limits_error, std::optional<guardian_errors> const& guardian)
{
  auto const processes_error = limit_processes();
  auto const capabilities = drop_capabilities();
  auto const privileges = forbid_new_privileges();
  auto const dumps = forbid_dumps();
  auto const landlock = deny_by_landlock(signal_scope::own_domain);
  auto const seccomp = install_seccomp_filter(seccomp_program(calls_of_tool_process()));
  return {.layers = {state_of("seccomp", seccomp), state_of(landlock),
                     state_of("capabilities", capabilities),
                     state_of("no-new-privileges", privileges), state_of("no-dump", dumps),
                     state_of("limits", limits_error != 0 ? limits_error : processes_error),
                     state_of(guardian)},
          .seccomp_refusal = seccomp == 0 ? "" : reason_of(seccomp)};
}

guardian_errors confine_guardian(pid_t tool_process)
{
  guardian_errors errors;
  errors.limits = limit_processes();
  errors.capabilities = drop_capabilities();
  errors.privileges = forbid_new_privileges();
  errors.dumps = forbid_dumps();
  // The tool process started before, so it is outside of the guardian's Landlock domain.
  errors.landlock = deny_by_landlock(signal_scope::any_process).error;
  errors.seccomp = install_seccomp_filter(seccomp_program(calls_of_guardian(tool_process)));
  return errors;
}

}  // namespace fatlink
