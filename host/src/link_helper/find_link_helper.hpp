// SPDX-License-Identifier: Apache-2.0
// Finds the helper, and reports one that is missing or does not start. Threads: no shared state.
#pragma once

#include <filesystem>
#include <string>

#include "fatlink/error.hpp"

namespace fatlink::detail {

/// What a helper runs.
enum class helper_tool { nvjitlink, nvrtc, libnvvm };
/// "nvjitlink", "nvrtc" or "libnvvm".
char const* to_string(helper_tool tool) noexcept;

/// The stage of the errors about a helper with `tool`.
constexpr stage stage_of(helper_tool tool)
{
  return tool == helper_tool::nvjitlink ? stage::linker : stage::compiler;
}

constexpr char const* k_helper_program = "fatlink-linkd";

/// Reports that the helper with `tool` cannot be used: `cause`, for `input`, with the error's
/// `code` and `hint`. @throws unavailable_error always.
[[noreturn]] void fail_without_helper(helper_tool tool, std::string const& cause,
                                      std::string const& input, std::string const& code,
                                      std::string const& hint);

/// The hint for a helper that does not start, or ends at once, for a reason that it does not tell.
std::string how_to_see_why(helper_tool tool, std::string const& program);

/// As fatlink::find_link_helper, for `tool`, which the error's hint is for.
std::filesystem::path find_helper(helper_tool tool);

}  // namespace fatlink::detail
