// SPDX-License-Identifier: Apache-2.0
// Offsets of segments, of inputs that "computes" states as such (segmented_fold): generates and
// checks them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fatlink/launch_plan.hpp"
#include "verification/operand_program.hpp"

namespace fatlink::cli {

/// The elements of the array with this name; nothing if they are not known.
using count_lookup = std::function<std::optional<std::size_t>(std::string const& name)>;

/// If the plan states that `input` holds the offsets of segments, how many elements the segments
/// divide.
std::optional<std::size_t> segmented_elements(launch_plan const& plan, std::string const& input,
                                              count_lookup const& count_of);

/// `count` offsets of the integer type `type`, from 0 to `elements`, not decreasing. Segments have
/// up to twice the mean length, and some are empty. They depend on the arguments only.
std::vector<std::byte> generate_offsets(element_type const& type, std::size_t count,
                                        std::size_t elements, std::uint64_t seed);

/// @throws file_error (invalid-npy) `offsets`, of integers that were read from `file`, decrease, or
///   exceed the number of elements that they divide; names the index and the values.
void check_offsets(std::string const& file, array_view const& offsets, std::size_t elements);

}  // namespace fatlink::cli
