// SPDX-License-Identifier: Apache-2.0
#include "landlock.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace fatlink {
namespace {

constexpr long k_create_ruleset = 444;  // SYS_landlock_*; older C libraries have no names for them
constexpr long k_restrict_self = 446;
constexpr unsigned k_version = 1;  // LANDLOCK_CREATE_RULESET_VERSION

/// struct landlock_ruleset_attr: what the ruleset denies where no rule of it allows.
struct ruleset {
  std::uint64_t files = 0;
  std::uint64_t ports = 0;   // since ABI 4
  std::uint64_t scopes = 0;  // since ABI 6
};

constexpr std::uint64_t bits(unsigned count)
{
  return (std::uint64_t{1} << count) - 1;
}

/// All rights that `abi` knows.
ruleset all_rights(int abi, signal_scope signals)
{
  ruleset rights{.files = bits(13)};      // execute … make symbolic links
  if (abi >= 2) rights.files = bits(14);  // refer
  if (abi >= 3) rights.files = bits(15);  // truncate
  if (abi >= 5) rights.files = bits(16);  // ioctl of devices
  if (abi >= 4) rights.ports = bits(2);   // bind, connect
  if (abi >= 6) rights.scopes = signals == signal_scope::own_domain ? bits(2) : bits(1);
  return rights;
}

std::size_t size_of_ruleset(int abi)
{
  if (abi < 4) return offsetof(ruleset, ports);
  return abi < 6 ? offsetof(ruleset, scopes) : sizeof(ruleset);
}

}  // namespace

landlock_result deny_by_landlock(signal_scope signals)
{
  auto const abi = static_cast<int>(::syscall(k_create_ruleset, nullptr, 0, k_version));
  if (abi <= 0) return {.abi = 0, .error = errno};
  auto const rights = all_rights(abi, signals);
  auto const descriptor =
      static_cast<int>(::syscall(k_create_ruleset, &rights, size_of_ruleset(abi), 0));
  if (descriptor < 0) return {.abi = abi, .error = errno};
  auto const error = ::syscall(k_restrict_self, descriptor, 0) == 0 ? 0 : errno;
  ::close(descriptor);
  return {.abi = abi, .error = error};
}

}  // namespace fatlink
