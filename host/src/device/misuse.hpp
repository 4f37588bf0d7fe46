// SPDX-License-Identifier: Apache-2.0
// Errors for calls that are wrong whatever the device. Threads: safe.
#pragma once

#include <string>

#include "fatlink/error.hpp"

namespace fatlink::detail {

/// @throws usage_error always. `input`: the object or value at fault.
[[noreturn]] void fail_use(std::string message, std::string input, std::string hint,
                           error_code code = error_code::invalid_argument);

}  // namespace fatlink::detail
