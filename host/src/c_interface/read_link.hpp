// SPDX-License-Identifier: Apache-2.0
// What the C interface states about a link: its inputs and its options. Threads: no shared state.
#pragma once

#include <vector>

#include "c_interface/handles.hpp"
#include "fatlink/link_options.hpp"

namespace fatlink::c {

/// @throws usage_error one of the inputs or the list is NULL.
std::vector<input> read_inputs(fatlink_input const* const* inputs, std::size_t count);

/// @throws usage_error `stated` is NULL, or a member is malformed.
link_options read_options(fatlink_link_options const* stated);

}  // namespace fatlink::c
