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

/// The link of files that were read, the library first.
/// @throws file_error the library has no plan.
requested_link request_link(device const& destination, std::vector<input> inputs, link_mode mode);

/// Links `requested` and loads the image. Throws as fatlink::prepare.
prepared_plan prepare_link(device const& destination, linker& tool, requested_link requested);

}  // namespace fatlink::detail
