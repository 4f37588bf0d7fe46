// SPDX-License-Identifier: Apache-2.0
// What the kernels of LTO-IR reach, by a link of its own without optimisation to PTX: the functions
// that they call or take the address of, defined or not. Shows nothing of an input without kernels,
// and no __forceinline__ function. Measured with nvJitLink 13.0 and 13.5.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fatlink/linker.hpp"
#include "fatlink/ptx_interface.hpp"
#include "linker/link_function.hpp"

namespace fatlink::detail {

/// The interface of linked PTX with its functions as definitions: a link makes every function
/// internal, and read_ptx_interface() lists visible ones.
/// @throws file_error text that is no PTX; names `name`.
ptx_interface read_linked_interface(std::string_view linked, std::string_view name);

/// nvJitLink's options for links that only check `inputs`: those of the link that is checked.
std::vector<std::string> check_options(std::vector<fatbin> const& inputs, link_options options);

/// `texts` are from check_options(). @throws link_error
ptx_interface read_reachable(fatbin const& input, link_options const& options,
                             std::vector<std::string> texts, link_function const& link);

}  // namespace fatlink::detail
