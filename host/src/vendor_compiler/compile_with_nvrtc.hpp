// SPDX-License-Identifier: Apache-2.0
// Compiles with NVRTC in the process that calls this, which should be the helper: sources can make
// it use all memory, never end, or crash. Threads: safe.
#pragma once

#include "vendor_compiler/nvrtc.hpp"
#include "vendor_compiler/program.hpp"

namespace fatlink::detail {

/// Compiles `subject` once for each of its option lists, and stops at the first that fails: the
/// last product has its code and log. Other headers than those of `subject`, which come first, are
/// read from the folders that the options name.
std::vector<compile_product> compile_with_nvrtc(nvrtc const& compiler, program const& subject);

/// Unpacks the headers of CUDA and CCCL that NVRTC brings from 13.3 on (21 MB) to `folder`, unless
/// they are there; other processes that do so wait.
/// @throws unavailable_error it brings none, or cannot write there.
void install_headers(nvrtc const& compiler, std::string const& folder);

/// Compiles a line of code, so that NVRTC opens all files that it ever opens. Call it before the
/// process is confined. @throws unavailable_error NVRTC cannot compile: its builtins are missing.
void warm_up(nvrtc const& compiler);

}  // namespace fatlink::detail
