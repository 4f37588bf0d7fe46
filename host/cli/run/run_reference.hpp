// SPDX-License-Identifier: Apache-2.0
// Which reference states what a link's kernel computes, and why none does.
// A .json states what one hook computes. The kernel computes that hook's function only if no other
// hook is filled, so a link with several filled hooks is verified between its modes only.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/reference.hpp"

namespace fatlink::cli {

struct reference_choice {
  std::optional<reference> expected = {};
  std::string reason = {};                ///< why there is no reference; empty where there is one
  std::vector<std::string> filled_hooks;  ///< in order of name
};

/// The hooks that are filled: those that an input declares and another defines, and those of which
/// the library (the first input) has a weak default and another input a definition of its own. A
/// default that nobody replaces is part of the library and does not count. Inputs without PTX
/// show no hooks.
std::vector<std::string> filled_hooks(std::span<fatbin const> inputs);

/// `transforms[i]` is the file of `inputs[i + 1]`; the .json is beside it.
/// @throws file_error a .json is malformed, states a hook that no input calls, or one that its
///   fatbin does not define.
reference_choice choose_reference(std::span<fatbin const> inputs,
                                  std::span<std::filesystem::path const> transforms);

}  // namespace fatlink::cli
