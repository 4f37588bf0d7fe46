// SPDX-License-Identifier: Apache-2.0
// How live modules and live plans link, and what their swaps report. Threads: no shared state.
#pragma once

#include "c_interface/handles.hpp"
#include "fatlink/live_swap.hpp"

namespace fatlink::c {

/// @throws usage_error `settings` is malformed.
live_settings read_live_settings(device const& destination, fatlink_live_settings const* settings);

/// As the C interface reports it.
fatlink_swap_report report_of(swap_report const& report);

}  // namespace fatlink::c
