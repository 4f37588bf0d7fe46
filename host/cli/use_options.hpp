// SPDX-License-Identifier: Apache-2.0
// Hints of the library name its C++ API; those that the program prints name its options.
#pragma once

#include <string>

namespace fatlink::cli {

/// `hint` with every API name that has an option replaced by that option: "link_mode::ptx" becomes
/// "--mode ptx".
std::string use_options(std::string hint);

}  // namespace fatlink::cli
