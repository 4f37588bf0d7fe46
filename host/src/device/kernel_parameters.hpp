// SPDX-License-Identifier: Apache-2.0
// Compares the parameters of a kernel with those that launches pass. Units: bytes. Threads: safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace fatlink::detail {

/// @throws usage_error the counts or a size differ; the message has both lists.
void check_kernel_parameters(std::string const& kernel, std::span<std::size_t const> expected,
                             std::span<std::size_t const> actual);

}  // namespace fatlink::detail
