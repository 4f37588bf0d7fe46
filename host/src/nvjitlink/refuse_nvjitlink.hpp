// SPDX-License-Identifier: Apache-2.0
// The errors for an nvJitLink that is missing or cannot be used.
#pragma once

#include <string>
#include <vector>

#include "fatlink/nvjitlink.hpp"

namespace fatlink::detail {

constexpr char const* k_nvjitlink_name = "libnvJitLink.so.13";

/// @throws unavailable_error always: the only permitted file, `candidate`, cannot be used, for the
///   reason in its `outcome`.
[[noreturn]] void refuse_nvjitlink(nvjitlink_candidate const& candidate);

/// @throws unavailable_error always: none of `candidates` can be used.
[[noreturn]] void refuse_nvjitlink(std::vector<nvjitlink_candidate> const& candidates);

}  // namespace fatlink::detail
