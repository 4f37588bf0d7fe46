// SPDX-License-Identifier: Apache-2.0
// Names of features that the reference device does not support, for messages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace fatlink::interpreter {

constexpr char const* k_texture_references = "references to textures and surfaces";

/// The unsupported feature that the instruction `name` ("tex") belongs to; null if unknown.
char const* unsupported_feature(std::string_view name) noexcept;

/// All instructions that belong to an unsupported feature, with the feature.
std::span<std::pair<std::string_view, char const*> const> unsupported_instructions() noexcept;

inline std::string unsupported(std::string_view feature)
{
  return "the reference device does not support " + std::string(feature);
}

}  // namespace fatlink::interpreter
