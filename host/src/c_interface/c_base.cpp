// SPDX-License-Identifier: Apache-2.0
#include "fatlink/c/base.h"

#include "version.hpp"

char const* fatlink_version(void)
{
  return fatlink::detail::k_version;
}

int32_t fatlink_c_version(void)
{
  return 1000 * FATLINK_C_MAJOR + FATLINK_C_MINOR;
}
