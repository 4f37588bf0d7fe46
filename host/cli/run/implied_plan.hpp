// SPDX-License-Identifier: Apache-2.0
// The launch plan of a kernel (const float* in, float* out, size_t n) whose library states none:
// out[i] is what the transforms make of in[i]. Threads: no shared state.
#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <span>
#include <string>

#include "fatlink/fatbin.hpp"
#include "fatlink/image.hpp"
#include "fatlink/input.hpp"
#include "fatlink/launch_plan.hpp"

namespace fatlink::cli {

/// The plan, without its kernel, of the library in this file.
launch_plan implied_plan(std::filesystem::path const& library);

/// Adds, with a hook for what is computed, the launch of the kernel `requested`; if it is empty, of
/// the library's apply_transform, or its only kernel. `modules`: those of the library first,
/// `library_modules` of them; if it has none, a transform may have the kernels. A kernel that no
/// PTX of the modules holds is left to preflight. The block is .reqntid if the PTX states it; else
/// 256, or .maxntid if that is less.
/// @throws usage_error its parameters are not three of 8 bytes; or `requested` is empty and the
///   library has several kernels, none of them apply_transform. Names the kernels that fit.
void add_launch(launch_plan& plan, std::span<fatbin const> modules, std::string const& requested,
                std::size_t library_modules);

/// The hooks that transforms fill in `image`, a link of `inputs`, the library first; a weak
/// function of the library that one replaces is a hook, and what an input defines for itself is
/// none.
std::set<std::string> filled_hooks(linked_image const& image, std::span<input const> inputs);

/// States that an implied plan computes what the hook does that is filled. With several hooks its
/// kernel computes none of these functions: returns why no reference can describe the outputs; else
/// nothing.
std::string add_hook(launch_plan& plan, std::set<std::string> const& filled);

}  // namespace fatlink::cli
