// SPDX-License-Identifier: Apache-2.0
// Compiles LLVM IR with libNVVM in the process that calls this, which should be the helper: damaged
// IR can crash it. Threads: safe.
#pragma once

#include "vendor_compiler/nvvm.hpp"
#include "vendor_compiler/program.hpp"

namespace fatlink::detail {

/// Verifies `subject`, text or bitcode, and compiles it once for each of its option lists; stops at
/// the first that fails: the last product has its code and log. Its headers are bitcode libraries
/// (libdevice), added lazily: functions that nothing calls are left out; names that end in .ll are
/// modules of the same program. A product has LTO-IR if
/// its options have -gen-lto, otherwise PTX.
std::vector<compile_product> compile_with_nvvm(nvvm const& compiler, program const& subject);

}  // namespace fatlink::detail
