// SPDX-License-Identifier: Apache-2.0
// Hints and usage errors of the library name its C++ API; those that the program prints name its
// options and verbs.
// Threads: safe.
#pragma once

#include <string>

#include "fatlink/error.hpp"

namespace fatlink::cli {

/// `text` with every API name replaced by the option or verb that does the same: "link_mode::ptx"
/// becomes "--mode ptx".
std::string use_options(std::string text);

/// The hint of an error for the program's users. For a few error codes it names an option where
/// the library can only describe the cause.
std::string use_options(error_details const& details);

}  // namespace fatlink::cli
