// SPDX-License-Identifier: Apache-2.0
#include "linking_process.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include "fatlink/nvjitlink.hpp"
#include "link_helper/protocol.hpp"
#include "printed_output.hpp"
#include "sandbox.hpp"
#include "serve.hpp"

namespace fatlink {
namespace {

constexpr int k_unavailable = 5;
constexpr char const* k_remedy =
    "links are not safe without it; allow seccomp (in a container: in its profile), or link "
    "without "
    "the sandbox: linker_settings::allow_unconfined";

void end_with(pid_t parent)
{
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);  // the parent has ended before this call
}

std::shared_ptr<nvjitlink const> open_nvjitlink(linking_settings const& settings)
{
  if (settings.nvjitlink.empty()) return nvjitlink::open();
  try {
    return nvjitlink::open(settings.nvjitlink);
  } catch (unavailable_error const&) {
    if (!settings.may_search) throw;
    return nvjitlink::open();  // the hello states which file it is
  }
}

/// @throws unavailable_error the kernel refuses seccomp, and linking without it is not allowed.
confinement confine(guardian& guard, int limits_error, linking_settings const& settings)
{
  auto result = confine_linking_process(limits_error, guard.receive_confinement());
  if (result.seccomp_refusal.empty() || settings.allow_unconfined) return result;
  throw unavailable_error(
      stage::linker, {.message = "fatlink-linkd cannot be confined: the kernel refuses seccomp: " +
                                 result.seccomp_refusal,
                      .code = error_code::helper_unconfined,
                      .hint = k_remedy});
}

byte_buffer hello_of(nvjitlink const& nvjitlink, std::vector<std::string> layers)
{
  return detail::encode(detail::helper_hello{.major = nvjitlink.major(),
                                             .minor = nvjitlink.minor(),
                                             .process = static_cast<std::uint32_t>(::getpid()),
                                             .path = nvjitlink.path(),
                                             .reason = nvjitlink.reason(),
                                             .identity = nvjitlink.identity(),
                                             .layers = std::move(layers)});
}

}  // namespace

int run_linking_process(guardian& guard, pid_t parent, int limits_error,
                        linking_settings const& settings)
try {
  end_with(parent);
  collect_printed_output();
  auto const nvjitlink = open_nvjitlink(settings);
  auto sandbox = confine(guard, limits_error, settings);
  if (!write_message(hello_of(*nvjitlink, std::move(sandbox.layers)))) return 0;
  return serve(*nvjitlink);
} catch (unavailable_error const& failure) {
  (void)write_message(encode(detail::helper_failure{failure.where(), failure.details(), true}, {}));
  return k_unavailable;
} catch (std::exception const&) {
  return 2;
}

}  // namespace fatlink
