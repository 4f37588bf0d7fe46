// SPDX-License-Identifier: Apache-2.0
// Reads module-scope variables of PTX. Source: PTX ISA 9.0, "Variables".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fatlink/ptx_interface.hpp"
#include "ptx/ptx_source.hpp"

namespace fatlink::detail {

/// Reads `(.managed)` or `(.unified(1, 2))`; returns whether it contains .managed.
/// @throws file_error damaged text.
bool read_attribute(ptx_source& source);

/// Reads the variables of one declaration, from after its state space (`space`, without the dot) up
/// to and including its ";". Linkage is set by the caller. @throws file_error damaged text.
std::vector<ptx_variable> read_variables(ptx_source& source, std::string_view space);

/// Bytes of `variable` as far as its type's name tells: 0 where it does not, and of `[]`.
std::uint64_t bytes_of(ptx_variable const& variable);

}  // namespace fatlink::detail
