// SPDX-License-Identifier: Apache-2.0
#include "fatlink/c/base.h"

#include "util/process/tool_range.hpp"
#include "version.hpp"

char const* fatlink_version(void)
{
  return fatlink::detail::k_version;
}

int32_t fatlink_c_version(void)
{
  return 1000 * FATLINK_C_MAJOR + FATLINK_C_MINOR;
}

void fatlink_range_push(char const* name)
{
  if (fatlink::detail::has_tool()) fatlink::detail::push_range(name == nullptr ? "" : name);
}

void fatlink_range_pop(void)
{
  if (fatlink::detail::has_tool()) fatlink::detail::pop_range();
}
