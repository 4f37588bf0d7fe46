// SPDX-License-Identifier: Apache-2.0
// The calls that a link left in its image. Source: .nv.callgraph of cubins (docs/cubin_format.md)
// has the calls of functions that have a section of their own; a function that belongs to a kernel
// is named after it, `$kernel$function` (ptxas of CUDA 13.0). Calls by address are not listed.
// Threads: no shared state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fatlink/bytes.hpp"
#include "fatlink/image.hpp"

namespace fatlink::detail {

struct image_call {
  std::string caller;
  std::string callee;
  bool operator==(image_call const&) const = default;
};

/// The direct calls in a linked cubin.
/// @throws file_error (stage image) it is damaged; states the offset.
std::vector<image_call> calls_in_cubin(bytes_view cubin);

/// The direct calls in PTX, in the order of the text.
std::vector<image_call> calls_in_ptx(std::string_view ptx);

/// The calls in an image of an LTO link. @throws file_error as calls_in_cubin.
std::vector<image_call> calls_in(linked_image const& image);

/// The caller and the name of a function that belongs to a kernel: `k` and `f` of `$k$f`; both
/// empty for other functions.
image_call split_inner_name(std::string_view name);

}  // namespace fatlink::detail
