// SPDX-License-Identifier: Apache-2.0
// Compares the parameters that a kernel has with those that launches will pass. Units: bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace fatlink::detail {

/// @throws usage_error count or a size differs; the message has both lists.
void check_kernel_parameters(std::string const& kernel, std::span<std::size_t const> expected,
                             std::span<std::size_t const> given);

}  // namespace fatlink::detail
