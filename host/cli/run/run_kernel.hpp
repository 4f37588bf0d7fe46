// SPDX-License-Identifier: Apache-2.0
// Selects the kernel that `fatlink run` and `fatlink bench` execute, and checks its parameters in
// the PTX of the inputs, before the link and before a device is opened.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "fatlink/device.hpp"
#include "fatlink/fatbin.hpp"

namespace fatlink::cli {

/// A kernel with the parameters (const float*, float*, size_t).
struct run_kernel {
  std::string name;
  /// 4 for fatlink's own vectorized kernel, whose loop is grid-stride; 1 for any other.
  unsigned elements_per_thread = 1;
  extent block = 256;  ///< .reqntid if the PTX states it; else 256, or .maxntid if that is less
};

/// The kernel `requested`; if it is empty, the library's apply_transform, or its only kernel.
/// `inputs`: the modules of the library first, `library_modules` of them; if it has none, a
/// transform may have the kernels. A kernel that no PTX of the inputs holds is left to preflight.
/// @throws usage_error its parameters are not three of 8 bytes; or `requested` is empty and the
///   library has several kernels, none of them apply_transform. Names the kernels that fit.
run_kernel select_kernel(std::span<fatbin const> inputs, std::string const& requested,
                         std::size_t library_modules = 1);

}  // namespace fatlink::cli
