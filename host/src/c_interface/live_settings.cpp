// SPDX-License-Identifier: Apache-2.0
#include "c_interface/live_settings.hpp"

#include "c_interface/enumerations.hpp"
#include "c_interface/struct_size.hpp"

namespace fatlink::c {

live_settings read_live_settings(device const& destination, fatlink_live_settings const* settings)
{
  auto const stated = optional_struct(settings, "settings");
  return {.link = destination.link_options(read_mode(stated.mode)), .tiered = stated.tiered != 0};
}

fatlink_swap_report report_of(swap_report const& report)
{
  return {.size = sizeof(fatlink_swap_report),
          .version = report.version,
          .mode = mode_of(report.mode),
          .cache = outcome_of(report.cache),
          .link_ms = report.times.check_ms + report.times.link_ms,
          .load_ms = report.times.load_ms,
          .total_ms = report.times.total_ms()};
}

}  // namespace fatlink::c
