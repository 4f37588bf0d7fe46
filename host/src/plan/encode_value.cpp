// SPDX-License-Identifier: Apache-2.0
#include "plan/encode_value.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "plan/components.hpp"
#include "util/bytes/half_float.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

[[noreturn]] void refuse(nlohmann::json const& value, element_type const& type)
{
  throw std::invalid_argument(
      detail::format("{:.100} is not a value of {}", value.dump(), to_string(type)));
}

template <typename Number>
void put(std::byte* destination, Number number)
{
  std::memcpy(destination, &number, sizeof number);
}

/// A number that `kind` can hold, "inf", "-inf" or "nan".
double real_of(nlohmann::json const& value, element_type const& type, scalar_kind kind)
{
  if (value.is_number() && std::abs(value.get<double>()) < format_of(kind).overflow())
    return value.get<double>();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  refuse(value, type);
}

template <typename Number>
void put_integer(std::byte* destination, nlohmann::json const& value, element_type const& type)
{
  if (value.is_number_unsigned() && std::in_range<Number>(value.get<std::uint64_t>()))
    put(destination, static_cast<Number>(value.get<std::uint64_t>()));
  else if (value.is_number_integer() && !value.is_number_unsigned() &&
           std::in_range<Number>(value.get<std::int64_t>()))
    put(destination, static_cast<Number>(value.get<std::int64_t>()));
  else
    refuse(value, type);
}

template <typename Real>
void put_complex(std::byte* destination, nlohmann::json const& value, element_type const& type)
{
  constexpr auto k_kind = sizeof(Real) == 4 ? scalar_kind::float32 : scalar_kind::float64;
  if (value.is_number()) {  // the imaginary part is 0
    put(destination, static_cast<Real>(real_of(value, type, k_kind)));
    return;
  }
  if (!value.is_array() || value.size() != 2) refuse(value, type);
  put(destination, static_cast<Real>(real_of(value[0], type, k_kind)));
  put(destination + sizeof(Real), static_cast<Real>(real_of(value[1], type, k_kind)));
}

template <typename Half>
void put_half(std::byte* destination, nlohmann::json const& value, element_type const& type)
{
  put(destination, half_float::round_to<Half>(real_of(value, type, type.kind)));
}

void put_value(std::byte* destination, nlohmann::json const& value, element_type const& type);

void put_record(std::byte* destination, nlohmann::json const& value, element_type const& type)
{
  if (value.is_number()) {
    for (auto const& field : type.fields) put_value(destination + field.offset, value, field.type);
    return;
  }
  if (!value.is_object() || value.size() != type.fields.size()) refuse(value, type);
  for (auto const& field : type.fields) {
    if (!value.contains(field.name)) refuse(value, type);
    put_value(destination + field.offset, value[field.name], field.type);
  }
}

void put_value(std::byte* destination, nlohmann::json const& value, element_type const& type)
{
  switch (type.kind) {
    case scalar_kind::float16:
      return put_half<half_float::binary16>(destination, value, type);
    case scalar_kind::bfloat16:
      return put_half<half_float::bfloat16>(destination, value, type);
    case scalar_kind::float32:
      return put(destination, static_cast<float>(real_of(value, type, type.kind)));
    case scalar_kind::float64:
      return put(destination, real_of(value, type, type.kind));
    case scalar_kind::int8:
      return put_integer<std::int8_t>(destination, value, type);
    case scalar_kind::int16:
      return put_integer<std::int16_t>(destination, value, type);
    case scalar_kind::int32:
      return put_integer<std::int32_t>(destination, value, type);
    case scalar_kind::int64:
      return put_integer<std::int64_t>(destination, value, type);
    case scalar_kind::uint8:
      return put_integer<std::uint8_t>(destination, value, type);
    case scalar_kind::uint16:
      return put_integer<std::uint16_t>(destination, value, type);
    case scalar_kind::uint32:
      return put_integer<std::uint32_t>(destination, value, type);
    case scalar_kind::uint64:
      return put_integer<std::uint64_t>(destination, value, type);
    case scalar_kind::complex64:
      return put_complex<float>(destination, value, type);
    case scalar_kind::complex128:
      return put_complex<double>(destination, value, type);
    case scalar_kind::bytes:
      if (value == 0) return;  // all of them
      throw std::invalid_argument(
          detail::format("{} has no values: its bytes have no meaning", to_string(type)));
    case scalar_kind::record:
      return put_record(destination, value, type);
  }
}

}  // namespace

std::vector<std::byte> encode_value(element_type const& type, nlohmann::json const& value)
{
  std::vector<std::byte> bytes(type.size);
  put_value(bytes.data(), value, type);
  return bytes;
}

}  // namespace fatlink::detail
