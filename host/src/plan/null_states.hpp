// SPDX-License-Identifier: Apache-2.0
// The cause of an access through a null pointer that a call by a plan can know. Threads: no shared
// state.
#pragma once

#include <span>
#include <string>

#include "fatlink/error.hpp"

namespace fatlink::detail {

/// `failure`, thrown again; where device code used a null pointer and the call left out states,
/// with a hint that names them. A GPU reports such an access later, and not its address.
[[noreturn]] void rethrow_with_states(device_error const& failure,
                                      std::span<std::string const> null_states);

}  // namespace fatlink::detail
