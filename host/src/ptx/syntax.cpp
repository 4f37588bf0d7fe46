// SPDX-License-Identifier: Apache-2.0
#include "ptx/syntax.hpp"

#include <array>

namespace fatlink::ptx {
namespace {

struct type_fact {
  std::string_view word;
  ptx::type type;
  unsigned size;
};

constexpr std::array k_types{
    type_fact{"pred", type::pred, 0},   type_fact{"b128", type::b128, 16},
    type_fact{"b8", type::b8, 1},       type_fact{"b16", type::b16, 2},
    type_fact{"b32", type::b32, 4},     type_fact{"b64", type::b64, 8},
    type_fact{"u8", type::u8, 1},       type_fact{"u16", type::u16, 2},
    type_fact{"u32", type::u32, 4},     type_fact{"u64", type::u64, 8},
    type_fact{"s8", type::s8, 1},       type_fact{"s16", type::s16, 2},
    type_fact{"s32", type::s32, 4},     type_fact{"s64", type::s64, 8},
    type_fact{"f16", type::f16, 2},     type_fact{"f16x2", type::f16x2, 4},
    type_fact{"bf16", type::bf16, 2},   type_fact{"bf16x2", type::bf16x2, 4},
    type_fact{"f32", type::f32, 4},     type_fact{"f64", type::f64, 8},
    type_fact{"f32x2", type::f32x2, 8},
};

}  // namespace

std::optional<type> parse_type(std::string_view word) noexcept
{
  for (auto const& fact : k_types)
    if (fact.word == word) return fact.type;
  return {};
}

unsigned size_of(type type) noexcept
{
  for (auto const& fact : k_types)
    if (fact.type == type) return fact.size;
  return 0;
}

bool is_signed(type type) noexcept
{
  return type == type::s8 || type == type::s16 || type == type::s32 || type == type::s64;
}

bool is_float(type type) noexcept
{
  return type >= type::f16;
}

bool is_integer(type type) noexcept
{
  return type >= type::b8 && type <= type::s64;
}

std::optional<space> parse_space(std::string_view word) noexcept
{
  if (word == "global") return space::global;
  if (word == "const") return space::constant;
  if (word == "shared" || word == "shared::cta" || word == "shared::cluster") return space::shared;
  if (word == "local") return space::local;
  if (word == "param" || word == "param::entry" || word == "param::func") return space::param;
  return {};
}

}  // namespace fatlink::ptx
