// SPDX-License-Identifier: Apache-2.0
#include "device/gpu_context.hpp"

#include "device/gpu_info.hpp"

namespace fatlink::detail {

gpu_context::gpu_context(driver const& api, int ordinal, std::string const& name)
    : api_(api), name_(name)
{
  api_.check(api_.primary_context_retain(&context_, gpu_handle(api, ordinal)),
             "creating a context on", name);
  if (ordinal != 0) none_before_ = context_guard::none_before::is_restored;
}

}  // namespace fatlink::detail
