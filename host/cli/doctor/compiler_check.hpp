// SPDX-License-Identifier: Apache-2.0
// The check of NVRTC and libNVVM by `fatlink doctor`: each compiles a line in the helper.
#pragma once

#include <nlohmann/json.hpp>

namespace fatlink::cli {

/// {"found", "path", "reason", "version", "builtins", "headers", "tried"}. If it is not found or
/// does not compile: "message" and "hint".
nlohmann::json examine_nvrtc();

/// {"found", "path", "reason", "version", "libdevice", "tried"}, likewise.
nlohmann::json examine_libnvvm();

/// Whether it is found and compiles.
bool is_compiler_usable(nlohmann::json const& compiler);

/// A line for each compiler, and one for each part of it. They are optional: if one is missing, the
/// line says what it is for.
void print_compilers(nlohmann::json const& nvrtc, nlohmann::json const& libnvvm);

}  // namespace fatlink::cli
