// SPDX-License-Identifier: Apache-2.0
// What a launch must fit: the device's limits, and those that a kernel states with directives.
// Source: PTX ISA 9.0, "Performance-Tuning Directives"; the limits of an H200.
#pragma once

#include <string>

#include "interpreter/machine.hpp"

namespace fatlink::interpreter {

/// @throws failure (launch) naming the kernel.
[[noreturn]] void fail_launch(kernel const& kernel, std::string const& reason);

/// @throws failure (launch) the grid, the block, the clusters or the shared memory do not fit.
void check_shape(kernel const& kernel, launch_options const& options);

/// How many blocks of a launch that fits run at a time: as many as on an H200, as far as threads,
/// blocks and shared memory limit them.
std::uint64_t max_resident_blocks(kernel const& kernel, launch_options const& options) noexcept;

}  // namespace fatlink::interpreter
