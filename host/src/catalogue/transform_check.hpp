// SPDX-License-Identifier: Apache-2.0
// Preflight of transforms without their library: with an installed library, or with findings that
// state why none can be used.
// Needs neither CUDA nor a GPU. Threads: no shared state.
#pragma once

#include <span>
#include <vector>

#include "catalogue/installed_library.hpp"
#include "fatlink/preflight.hpp"

namespace fatlink {

/// Whether `inputs` lack a library: none of them has a kernel. Inputs without PTX, whose kernels
/// are not known, count only where all inputs are such.
bool lacks_library(std::span<fatbin const> inputs);

/// preflight() of `library` with `transforms`, as select_modules() selects their modules. A missing
/// hook of the library is a
/// warning if the transforms define another hook and no function with a similar name.
/// @throws format_error as preflight.
std::vector<finding> preflight_with(installed_library const& library,
                                    std::span<input const> transforms,
                                    preflight_request const& request);

/// preflight() of `transforms`, for which select_libraries() selects none of `libraries`. Adds the
/// error `not-judged` (no library of the contract, no PTX) or `unused-definition` (no library
/// calls what a transform defines; a warning where the inputs declare hooks of their own).
/// @throws format_error as preflight.
std::vector<finding> preflight_without(std::span<installed_library const> libraries,
                                       std::span<input const> transforms,
                                       preflight_request const& request);

}  // namespace fatlink
