// SPDX-License-Identifier: Apache-2.0
// The error of a compile in offline mode: what is missing, and how to add it to a layer.
// Threads: safe.
#pragma once

#include <memory>

#include "compiler/compile_inputs.hpp"
#include "fatlink/cache.hpp"

namespace fatlink::detail {

/// `cache`: may be null. @throws unavailable_error error_code::offline.
[[noreturn]] void refuse_compile_offline(std::shared_ptr<link_cache> const& cache,
                                         compile_inputs const& inputs);

}  // namespace fatlink::detail
