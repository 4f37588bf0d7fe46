// SPDX-License-Identifier: Apache-2.0
// Checks compile_options, and turns them into the options of NVRTC and libNVVM. Sources: NVRTC
// 13.0, "Supported Compile Options"; libNVVM's nvvm.h. Threads: no shared state.
#pragma once

#include <string>
#include <vector>

#include "fatlink/compiler.hpp"
#include "vendor_compiler/program.hpp"

namespace fatlink::detail {

/// @throws usage_error no architecture, one that is older than CUDA 13 knows or given twice, an
///   unknown standard, a text that does not define a macro, a header in memory without a name, or
///   both a contract and a header.
void check_compile_options(compile_options const& options);

/// @throws usage_error a setting out of range.
void check_compiler_settings(compiler_settings const& settings);

/// The calls of NVRTC: for each architecture one that makes PTX and assembles it, one that makes
/// LTO-IR; for each further one of `sass` one that makes a cubin. `headers`: where they are
/// (header_files::options). `is_minimal`: leaves textures, launches and CUDA's runtime types out,
/// which halves the time.
std::vector<compile_call> nvrtc_compiles(compile_options const& options,
                                         std::vector<std::string> const& headers, bool is_minimal);

/// The calls of libNVVM: for each architecture PTX, then LTO-IR.
/// @throws usage_error cubins, which libNVVM does not make.
std::vector<compile_call> nvvm_compiles(compile_options const& options);

}  // namespace fatlink::detail
