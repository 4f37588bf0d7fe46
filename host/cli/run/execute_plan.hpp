// SPDX-License-Identifier: Apache-2.0
// Runs one linked image by its launch plan. Threads: one at a time for each device.
#pragma once

#include <array>
#include <cstddef>
#include <functional>

#include "fatlink/device.hpp"
#include "fatlink/prepare.hpp"
#include "run/plan_data.hpp"
#include "run/plan_report.hpp"

namespace fatlink::cli {

/// What outputs hold before the run of the first mode, of the second, and on the reference device.
/// 0xFF: NaN as floats.
inline constexpr std::array k_unwritten_bytes{std::byte{0xFF}, std::byte{0x5A}, std::byte{0xA5}};

/// Uploads `data`, makes the launches of `code`, which was prepared for `destination`, and copies
/// the outputs back. Elements that no kernel writes keep the byte `unwritten`: with another one in
/// each run, results differ there. `load_ms` of the result is left to the caller.
/// `before_launch` is called before the first launch; may be empty.
/// @throws as prepared_plan::run.
mode_result execute_plan(device const& destination, prepared_plan const& code, run_data const& data,
                         std::byte unwritten, std::function<void()> const& before_launch = {});

}  // namespace fatlink::cli
