// SPDX-License-Identifier: Apache-2.0
// Runs again after each change of the files that a run reads.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "live/watch/file_watch.hpp"

namespace fatlink::cli {

/// What is run.
struct watched_work {
  std::filesystem::path file = {};  ///< the one that the text names
  /// The inputs that have a sidecar, sources not included. May throw fatlink::error.
  std::function<std::vector<std::filesystem::path>()> inputs = {};
  /// Runs, and adds the files that it reads to the watch.
  std::function<void(detail::file_watch&)> run = {};
};

/// Runs `work` now and after each change, once inputs and their sidecars belong together, until a
/// signal ends the process or standard output is closed. Reports what it throws, unless a file was
/// replaced meanwhile: then it runs again. Helpers stay warm between runs.
void run_on_changes(watched_work const& work);

}  // namespace fatlink::cli
