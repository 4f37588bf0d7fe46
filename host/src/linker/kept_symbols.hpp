// SPDX-License-Identifier: Apache-2.0
// Whether a link keeps what it was asked to keep: link_options::kernels and ::variables. nvJitLink
// ignores names that nothing has, and succeeds with an image without kernels.
#pragma once

#include <vector>

#include "fatlink/linker.hpp"
#include "linker/link_function.hpp"

namespace fatlink::detail {

/// unknown-kernel and unknown-variable of links with opaque inputs, which preflight cannot judge:
/// if a name is not in the PTX of the readable inputs, the opaque ones are linked without
/// optimization, each by itself. @throws link_error an additional link failed.
std::vector<finding> find_unknown_symbols(std::vector<fatbin> const& inputs,
                                          link_options const& options, link_function const& link);

/// After the link. `image`: a cubin, or the emitted PTX.
/// @throws refused_error unknown-kernel, unknown-variable: the image lacks a name.
void check_kept(bytes_view image, std::vector<fatbin> const& inputs, link_options const& options);

}  // namespace fatlink::detail
