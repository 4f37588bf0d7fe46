// SPDX-License-Identifier: Apache-2.0
// Values of --target: architectures as nvcc writes them, `native` for the GPUs of this machine, and
// `all` for every architecture of CUDA 13.
#pragma once

#include <string>
#include <vector>

#include "fatlink/target.hpp"
#include "verbs.hpp"

namespace fatlink::cli {

/// The targets that `words` mean, in their order, each once.
/// @throws usage_error a word is no target; offers the nearest.
/// @throws unavailable_error `native`, and the driver finds no GPU.
std::vector<target> parse_targets(std::vector<std::string> const& words);

/// Adds --target, which takes several with commas and may be repeated; `words` are its default.
CLI::Option* add_targets(CLI::App& verb, std::vector<std::string>& words, std::string const& help);

}  // namespace fatlink::cli
