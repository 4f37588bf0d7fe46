// SPDX-License-Identifier: Apache-2.0
// The memory of this machine that the arrays of a plan take, checked before they are allocated:
// Linux promises more than there is, and ends the process when it is used. Units: bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fatlink/launch_plan.hpp"

namespace fatlink::cli {

/// How a run holds the arrays of its plan. Inputs have one copy on the host.
struct array_copies {
  std::size_t outputs = 1;  ///< copies of each output on the host: one for each link mode
  bool on_host = false;     ///< whether device memory is the host's: on the reference device
};

/// Bytes that this process can still use: MemAvailable of /proc/meminfo, or the limit of the
/// control group or of the address space (ulimit -v) if that is less; the largest number where
/// none of them is known.
std::uint64_t available_memory();

/// `extents`: of each argument of the plan, whose arrays have types; empty where they are not
/// known, and for other arguments. `held`: bytes of their copies that are there already.
/// @throws unavailable_error (out-of-memory) the other copies take more than available_memory().
void check_memory(launch_plan const& plan, std::vector<std::vector<std::size_t>> const& extents,
                  array_copies copies, std::uint64_t held = 0);

}  // namespace fatlink::cli
