// SPDX-License-Identifier: Apache-2.0
// fatlink cache warm: links in advance, so that later links are found in the cache or in a layer.
#pragma once

#include <CLI/CLI.hpp>

namespace fatlink::cli {

/// Adds the subcommand to `verb`; its callback sets the exit status.
void add_cache_warm(CLI::App& verb, int& exit_status);

}  // namespace fatlink::cli
