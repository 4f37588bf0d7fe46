// SPDX-License-Identifier: Apache-2.0
// --resources: the resources of kernels, as JSON and as text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fatlink/resources.hpp"
#include "verbs.hpp"

namespace fatlink::cli {

/// Adds --resources.
void add_resources(CLI::App& verb, bool& resources);

/// @throws usage_error --resources with images that are PTX: `cause` says why, `remedy` what to do.
[[noreturn]] void refuse_resources(std::string const& cause, std::string const& remedy);

/// A list of "kernel_resources" in docs/schemas/common.json. What is not known is absent.
nlohmann::json describe_resources(std::vector<kernel_resources> const& kernels);

/// Prints a line for each kernel, after `indentation`; `kernels`: a list that describe_resources
/// returned.
void print_resources(nlohmann::json const& kernels, char const* indentation);

}  // namespace fatlink::cli
