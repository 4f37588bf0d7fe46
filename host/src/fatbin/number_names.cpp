// SPDX-License-Identifier: Apache-2.0
#include "fatbin/number_names.hpp"

#include <algorithm>
#include <array>

#include "util/text/nearest.hpp"

namespace fatlink::detail {
namespace {

struct named_scalar {
  std::string_view type;
  scalar_kind kind;
};

// As the demangler names them.
constexpr std::array k_scalars{
    named_scalar{"__half", scalar_kind::float16},
    named_scalar{"__nv_bfloat16", scalar_kind::bfloat16},
    named_scalar{"float", scalar_kind::float32},
    named_scalar{"double", scalar_kind::float64},
    named_scalar{"signed char", scalar_kind::int8},
    named_scalar{"char", scalar_kind::int8},
    named_scalar{"short", scalar_kind::int16},
    named_scalar{"int", scalar_kind::int32},
    named_scalar{"long", scalar_kind::int64},
    named_scalar{"long long", scalar_kind::int64},
    named_scalar{"unsigned char", scalar_kind::uint8},
    named_scalar{"bool", scalar_kind::uint8},
    named_scalar{"unsigned short", scalar_kind::uint16},
    named_scalar{"unsigned int", scalar_kind::uint32},
    named_scalar{"unsigned long", scalar_kind::uint64},
    named_scalar{"unsigned long long", scalar_kind::uint64},
    named_scalar{"float2", scalar_kind::complex64},
    named_scalar{"double2", scalar_kind::complex128},
};

}  // namespace

std::optional<scalar_kind> number_of_cpp(std::string_view type) noexcept
{
  auto const* const place = std::ranges::find(k_scalars, type, &named_scalar::type);
  if (place == k_scalars.end()) return std::nullopt;
  return place->kind;
}

std::string intended_name(std::vector<std::string> const& known, std::string_view word)
{
  if (auto const number = number_of_cpp(word)) {
    auto const place = std::ranges::find(known, to_string(*number));
    if (place != known.end()) return *place;
  }
  return nearest(known, word);
}

}  // namespace fatlink::detail
