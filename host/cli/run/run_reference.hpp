// SPDX-License-Identifier: Apache-2.0
// Chooses the reference that the results of a kernel are compared with.
// A sidecar states what one hook computes. The kernel computes that function only if no other hook
// is filled, so with several filled hooks only the modes are compared with each other.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/input.hpp"
#include "fatlink/reference.hpp"

namespace fatlink::cli {

struct reference_choice {
  std::optional<reference> expected = {};
  std::string reason = {};                ///< why there is no reference; empty with one
  std::vector<std::string> filled_hooks;  ///< in order of name
};

/// The hooks that are filled: those that one input declares and another defines, and those with a
/// weak default in the library (the first input) and a definition in another input. A default that
/// is not replaced does not count, nor does what one transform declares and defines itself, in two
/// of its modules (`owners`: see choose_reference). Inputs that do not show their functions (LTO-IR
/// without PTX) fill the hooks that no other input defines, if the link succeeds; the hooks that
/// they declare, and the defaults that they replace, are not known.
std::vector<std::string> filled_hooks(std::span<fatbin const> inputs,
                                      std::span<std::filesystem::path const> owners);

/// `inputs[i]` is a module of the transform `owners[i]`, beside which its sidecar is; of the
/// library if that is empty.
/// @throws file_error a sidecar is malformed, or states a hook that no input calls or that its
///   transform does not define.
reference_choice choose_reference(std::span<fatbin const> inputs,
                                  std::span<std::filesystem::path const> owners);

/// Checks the sidecars of `inputs` that state "hooks". No reference of that form describes a kernel
/// without a launch plan, but a misspelt hook is an error here, too.
/// @throws file_error (invalid-sidecar) the sidecar is malformed, or states a hook that its input
///   does not have.
void check_hooks(std::span<input const> inputs);

}  // namespace fatlink::cli
