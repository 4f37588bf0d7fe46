// SPDX-License-Identifier: Apache-2.0
// The resources of kernels, as JSON and as text.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "fatlink/resources.hpp"

namespace fatlink::cli {

/// A list of "kernel_resources" in docs/schemas/common.json. What is not known is absent.
nlohmann::json describe_resources(std::vector<kernel_resources> const& kernels);

/// Prints a line for each kernel, after `indentation`; `kernels`: a list that describe_resources
/// returned.
void print_resources(nlohmann::json const& kernels, char const* indentation);

}  // namespace fatlink::cli
