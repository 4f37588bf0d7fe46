// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fatlink::detail {

/// The name that nvJitLink.h gives an nvJitLinkResult: "NVJITLINK_ERROR_INVALID_INPUT";
/// "NVJITLINK_ERROR_UNKNOWN" for a number that CUDA 13.0 does not define.
char const* nvjitlink_result_name(int code) noexcept;

}  // namespace fatlink::detail
