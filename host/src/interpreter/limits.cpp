// SPDX-License-Identifier: Apache-2.0
// Source: PTX ISA 9.0, "Instructions".
#include "interpreter/limits.hpp"

#include <array>
#include <utility>

namespace fatlink::interpreter {
namespace {

constexpr auto k_features = std::to_array<std::pair<std::string_view, char const*>>({
    {"tex", k_textures},
    {"tld4", k_textures},
    {"txq", k_textures},
    {"istypep", k_textures},
    {"suld", k_textures},
    {"sust", k_textures},
    {"sured", k_textures},
    {"suq", k_textures},
    {"wgmma", "matrix instructions"},
    {"tcgen05", "matrix instructions"},
    {"multimem", "multicast memory"},
    {"alloca", "dynamic alloca"},
    {"stacksave", "dynamic alloca"},
    {"stackrestore", "dynamic alloca"},
});

}  // namespace

std::span<std::pair<std::string_view, char const*> const> unsupported_instructions() noexcept
{
  return k_features;
}

char const* unsupported_feature(std::string_view name) noexcept
{
  for (auto const& [instruction, feature] : k_features)
    if (instruction == name) return feature;
  return nullptr;
}

}  // namespace fatlink::interpreter
