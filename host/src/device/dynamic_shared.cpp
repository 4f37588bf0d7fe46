// SPDX-License-Identifier: Apache-2.0
#include "device/dynamic_shared.hpp"

#include "util/text/format.hpp"

namespace fatlink::detail {

void check_dynamic_shared(std::string const& kernel, std::size_t bytes, std::size_t limit,
                          code_text const& code)
{
  if (bytes <= limit) return;
  throw device_error(
      stage::device,
      {.message = detail::format("kernel {}: {} bytes of dynamic shared memory are more than {}",
                                 kernel, bytes, limit),
       .input = kernel,
       .code = code,
       .hint = "use smaller blocks, or at most kernel_attributes::max_dynamic_shared_bytes"});
}

}  // namespace fatlink::detail
