// SPDX-License-Identifier: Apache-2.0
// The remedy of an error in terms of the program's options, where the library's hint speaks of its
// API. Threads: safe.
#pragma once

#include <string>

#include "fatlink/error.hpp"

namespace fatlink::cli {

/// The option to use for the error with this code; without one, the hint of `details`.
std::string hint_of(error_details const& details);

}  // namespace fatlink::cli
