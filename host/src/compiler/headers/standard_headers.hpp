// SPDX-License-Identifier: Apache-2.0
// The headers of the C++ standard library, which NVRTC does not have, for sources that nvcc
// compiles, too: <cstddef>, <cstdint>, <climits>, <cfloat> and their C names have texts of fatlink,
// which take no time that can be measured (those of CCCL 3.0: 40 ms); the others are those of CCCL
// (libcu++), by the names of the namespace std.
// The texts declare what libcu++ declares under NVRTC, in the same words, so that a source may
// include both: observed with CCCL 3.0 to 3.3. So std::int64_t is long long, and long with nvcc.
// std::byte is missing. Threads: no shared state.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fatlink::detail {

/// The text of fatlink for "cstdint"; nothing if it has none. `cccl_text`: of <cuda/std/cstdint>,
/// whose spelling of macros is followed; empty: there is none.
std::optional<std::string> standard_header_text(std::string_view name, std::string_view cccl_text);

/// "cuda/std/limits" for "limits"; empty if `name` cannot be a standard header.
std::string cccl_header_of(std::string_view name);

/// The text that gives `cccl_header` the names of the standard header.
std::string cccl_header_text(std::string const& cccl_header);

}  // namespace fatlink::detail
