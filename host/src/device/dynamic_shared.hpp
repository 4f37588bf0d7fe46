// SPDX-License-Identifier: Apache-2.0
// The limit of dynamic shared memory. Units: bytes. Threads: safe.
#pragma once

#include <cstddef>
#include <string>

#include "fatlink/error.hpp"

namespace fatlink::detail {

/// @throws device_error (`code`) a launch of `kernel` asks for more than `limit`.
void check_dynamic_shared(std::string const& kernel, std::size_t bytes, std::size_t limit,
                          code_text const& code);

}  // namespace fatlink::detail
