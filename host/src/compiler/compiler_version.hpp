// SPDX-License-Identifier: Apache-2.0
// What the identity of a compiler's file states (library_file::identity). Threads: no shared state.
#pragma once

#include <string>

namespace fatlink::detail {

/// "13.0" of "13.0 65be0db3… 109338064"; "2.?" of libNVVM, which states no version.
std::string version_of(std::string const& identity);

/// Whether `version` is complete.
bool is_known(std::string const& version);

/// "NVRTC 13.0", or "libNVVM".
std::string title_of(char const* compiler, std::string const& version);

/// Whether the NVRTC with `identity` brings CUDA's headers, as 13.3 and newer do.
bool brings_headers(std::string const& identity);

}  // namespace fatlink::detail
