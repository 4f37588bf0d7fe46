// SPDX-License-Identifier: Apache-2.0
#include "capabilities.hpp"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace fatlink {
namespace {

constexpr unsigned long k_capabilities = 64;  // more than any kernel has

void empty_bounding_set()
{
  for (unsigned long capability = 0; capability < k_capabilities; ++capability)
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return;
}

}  // namespace

int drop_capabilities()
{
  empty_bounding_set();
  (void)::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct const none[_LINUX_CAPABILITY_U32S_3]{};
  return ::syscall(SYS_capset, &header, none) == 0 ? 0 : errno;
}

}  // namespace fatlink
