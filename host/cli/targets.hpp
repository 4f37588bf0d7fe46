// SPDX-License-Identifier: Apache-2.0
// Values of --target: architectures in nvcc's spelling, `native` for the GPUs of this machine, and
// `all` for every architecture of CUDA 13.
#pragma once

#include <string>
#include <vector>

#include "fatlink/target.hpp"
#include "verbs.hpp"

namespace fatlink::cli {

/// The targets of `words`, in their order, without duplicates.
/// @throws usage_error a word is not a target; suggests the nearest.
/// @throws unavailable_error `native` without a GPU.
std::vector<target> parse_targets(std::vector<std::string> const& words);

/// Adds --target, which takes several targets, separated by commas, and can be repeated; `words` is
/// its default.
CLI::Option* add_targets(CLI::App& verb, std::vector<std::string>& words, std::string const& help);

}  // namespace fatlink::cli
