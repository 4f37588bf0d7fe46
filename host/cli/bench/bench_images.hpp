// SPDX-License-Identifier: Apache-2.0
// The images that `fatlink bench` times on a GPU. Threads: one at a time.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/bench_job.hpp"
#include "fatlink/device.hpp"

namespace fatlink::cli {

/// An image under the name of its variant.
struct bench_image {
  std::string variant;
  std::vector<input> inputs;  ///< from which it was linked
  linked_image image;
};

/// A fatbin that needs no transform, linked without options.
bench_image link_complete(device const& gpu, std::filesystem::path const& file,
                          char const* variant);

/// The inputs of `job`, linked with the options of the bench in each of its modes, and the single
/// source that they are compared with, where there is one.
/// @throws as linker::link.
std::vector<bench_image> link_variants(device const& gpu, bench_job const& job);

}  // namespace fatlink::cli
