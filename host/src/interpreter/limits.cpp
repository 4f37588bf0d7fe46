// SPDX-License-Identifier: Apache-2.0
// Source: PTX ISA 9.0, "Instructions".
#include "interpreter/limits.hpp"

#include <array>
#include <utility>

namespace fatlink::interpreter {
namespace {

constexpr auto k_features = std::to_array<std::pair<std::string_view, char const*>>({
    {"istypep", k_texture_references},
    {"wgmma", "matrix products of four warps (wgmma)"},
    {"tcgen05", "matrix products of sm_100 (tcgen05)"},
    {"multimem", "multicast memory"},
    {"tensormap", "tensor maps (TMA)"},
    {"clusterlaunchcontrol", "launches of clusters by clusters"},
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
