// SPDX-License-Identifier: Apache-2.0
// The link that a plan_request asks for. Threads: no shared state.
#pragma once

#include <vector>

#include "fatlink/prepare.hpp"

namespace fatlink::detail {

struct requested_link {
  launch_plan plan = {};
  std::vector<input> inputs = {};  ///< the library first
  link_options options = {};       ///< for the device; keeps the kernels of the plan
};

/// Finds and reads the files of `request`.
/// @throws file_error one is not found or unusable, or the library has no plan.
requested_link read_request(device const& destination, plan_request const& request);

}  // namespace fatlink::detail
