// SPDX-License-Identifier: Apache-2.0
// What a helper runs. Threads: no shared state.
#pragma once

#include "fatlink/error.hpp"

namespace fatlink::detail {

enum class helper_tool { nvjitlink, nvrtc, libnvvm };
/// "nvjitlink", "nvrtc" or "libnvvm".
char const* to_string(helper_tool tool) noexcept;

/// The stage of the errors about a helper with `tool`.
constexpr stage stage_of(helper_tool tool)
{
  return tool == helper_tool::nvjitlink ? stage::linker : stage::compiler;
}

}  // namespace fatlink::detail
