// SPDX-License-Identifier: Apache-2.0
#include "device/misuse.hpp"

#include <utility>

namespace fatlink::detail {

void fail_use(std::string message, std::string input, std::string hint, error_code code)
{
  throw usage_error({.message = std::move(message),
                     .input = std::move(input),
                     .code = code,
                     .hint = std::move(hint)});
}

}  // namespace fatlink::detail
