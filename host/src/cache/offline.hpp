// SPDX-License-Identifier: Apache-2.0
// Offline mode: links and compiles come from cache layers or fail; no library of CUDA is searched,
// and no helper is started. docs/cache.md describes it. Threads: safe.
#pragma once

#include <memory>
#include <string>

#include "fatlink/cache.hpp"
#include "fatlink/error.hpp"

namespace fatlink::cache {

/// Whether the mode is on: `setting`, or FATLINK_OFFLINE=1.
/// @throws usage_error $FATLINK_OFFLINE is neither empty nor 0 nor 1.
bool is_offline(bool setting);

/// "no cache layer has", or why there is no layer.
/// `cache`: of the linker or compiler; may be null.
std::string describe_miss(std::shared_ptr<link_cache> const& cache);

/// "on a machine with nvJitLink and NVRTC, run COMMAND; then set …", for a link or compile that
/// `command` stores in the layer FOLDER; an empty command: fatlink cache record.
std::string describe_layer(std::string const& command = {});

/// @throws unavailable_error error_code::offline.
[[noreturn]] void refuse_offline(stage origin, std::string message, std::string input,
                                 std::string hint);

/// @throws unavailable_error layers cannot be filled in offline mode. `origin`: what would fill it.
void refuse_layer_offline(stage origin, bool is_offline);

}  // namespace fatlink::cache
