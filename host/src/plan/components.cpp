// SPDX-License-Identifier: Apache-2.0
#include "plan/components.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "util/bytes/half_float.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

void add_scalar(std::vector<component>& list, std::string const& name, element_type const& type,
                std::size_t offset)
{
  auto const is_64 = type.kind == scalar_kind::complex64;
  if (!is_64 && type.kind != scalar_kind::complex128) {
    list.push_back({.name = name, .kind = type.kind, .offset = offset});
    return;
  }
  auto const prefix = name.empty() ? name : name + ".";
  auto const part = is_64 ? scalar_kind::float32 : scalar_kind::float64;
  list.push_back({.name = prefix + "real", .kind = part, .offset = offset, .partner = 1});
  list.push_back(
      {.name = prefix + "imag", .kind = part, .offset = offset + type.size / 2, .partner = -1});
}

template <typename Value>
Value copied(std::byte const* place) noexcept
{
  Value value;
  std::memcpy(&value, place, sizeof value);
  return value;
}

/// Calls `use` with a value of the integer type that `kind` names.
template <typename Use>
auto with_integer(scalar_kind kind, Use const& use)
{
  switch (kind) {
    case scalar_kind::int8:
      return use(std::int8_t{});
    case scalar_kind::int16:
      return use(std::int16_t{});
    case scalar_kind::int32:
      return use(std::int32_t{});
    case scalar_kind::int64:
      return use(std::int64_t{});
    case scalar_kind::uint16:
      return use(std::uint16_t{});
    case scalar_kind::uint32:
      return use(std::uint32_t{});
    case scalar_kind::uint64:
      return use(std::uint64_t{});
    default:
      return use(std::uint8_t{});
  }
}

/// Calls `use` with a function that reads a number of `kind`.
template <typename Use>
auto with_reader(scalar_kind kind, Use const& use)
{
  using byte_pointer = std::byte const*;
  switch (kind) {
    case scalar_kind::float16:
      return use([](byte_pointer place) {
        return number{
            .real = half_float::to_double(half_float::binary16{copied<std::uint16_t>(place)})};
      });
    case scalar_kind::bfloat16:
      return use([](byte_pointer place) {
        return number{
            .real = half_float::to_double(half_float::bfloat16{copied<std::uint16_t>(place)})};
      });
    case scalar_kind::float32:
      return use([](byte_pointer place) {
        return number{.real = static_cast<double>(copied<float>(place))};
      });
    case scalar_kind::float64:
      return use([](byte_pointer place) { return number{.real = copied<double>(place)}; });
    default:
      return with_integer(kind, [&](auto sample) {
        return use(
            [](byte_pointer place) { return whole_number(copied<decltype(sample)>(place)); });
      });
  }
}

template <typename Value>
void write(std::byte* place, Value value) noexcept
{
  std::memcpy(place, &value, sizeof value);
}

}  // namespace

std::vector<component> components_of(element_type const& type)
{
  std::vector<component> list;
  if (type.kind == scalar_kind::bytes) {
    for (std::size_t i = 0; i < type.size; ++i)
      list.push_back(
          {.name = detail::format("byte{}", i), .kind = scalar_kind::bytes, .offset = i});
  } else if (type.kind == scalar_kind::record) {
    for (auto const& field : type.fields) add_scalar(list, field.name, field.type, field.offset);
  } else {
    add_scalar(list, {}, type, 0);
  }
  return list;
}

std::size_t size_of(scalar_kind kind) noexcept
{
  switch (kind) {
    case scalar_kind::float16:
    case scalar_kind::bfloat16:
      return 2;
    case scalar_kind::float32:
      return 4;
    case scalar_kind::float64:
      return 8;
    default:
      return with_integer(kind, [](auto sample) { return sizeof sample; });
  }
}

bool is_integer(scalar_kind kind) noexcept
{
  return kind >= scalar_kind::int8 && kind <= scalar_kind::uint64;
}

number load(scalar_kind kind, std::byte const* place) noexcept
{
  return with_reader(kind, [&](auto const& read) { return read(place); });
}

void load_block(scalar_kind kind, strided<std::byte const> from, std::size_t count,
                strided<number> to) noexcept
{
  with_reader(kind, [&](auto const& read) {
    for (std::size_t i = 0; i < count; ++i)
      to.first[i * to.step] = read(from.first + i * from.step);
  });
}

void store(scalar_kind kind, number const& value, std::byte* place) noexcept
{
  switch (kind) {
    case scalar_kind::float16:
      return write(place, half_float::round_to<half_float::binary16>(value.real).bits);
    case scalar_kind::bfloat16:
      return write(place, half_float::round_to<half_float::bfloat16>(value.real).bits);
    case scalar_kind::float32:
      return write(place, static_cast<float>(value.real));
    case scalar_kind::float64:
      return write(place, value.real);
    default:
      with_integer(kind, [&](auto sample) {
        write(place, static_cast<decltype(sample)>(static_cast<uint128>(value.whole)));
      });
  }
}

int128 wrapped(scalar_kind kind, int128 value) noexcept
{
  return with_integer(kind, [&](auto sample) -> int128 {
    return static_cast<decltype(sample)>(static_cast<uint128>(value));
  });
}

int128 truncated(scalar_kind kind, double value) noexcept
{
  return with_integer(kind, [&](auto sample) -> int128 {
    using range = std::numeric_limits<decltype(sample)>;
    if (std::isnan(value)) return 0;
    // The limits as doubles may round up by one, to a power of two that is out of range.
    if (value >= static_cast<double>(range::max())) return range::max();
    if (value <= static_cast<double>(range::min())) return range::min();
    return static_cast<int128>(value);
  });
}

double float_format::unit_roundoff() const noexcept
{
  return std::ldexp(1.0, -precision);
}

double float_format::least_denormal() const noexcept
{
  return std::ldexp(1.0, least_exponent - precision + 1);
}

double float_format::spacing_at(double value) const noexcept
{
  constexpr int k_bias = 1023;
  constexpr int k_fraction_bits = 52;
  auto const biased =
      static_cast<int>(std::bit_cast<std::uint64_t>(value) >> k_fraction_bits & 0x7FF);
  if (biased == 0x7FF) return std::numeric_limits<double>::infinity();  // NaN and infinity
  // A denormal double or 0 has the exponent -1023 here, which is below that of every format.
  auto const exponent = std::max(biased - k_bias, least_exponent) - precision + 1 + k_bias;
  if (exponent <= 0) return std::ldexp(1.0, exponent - k_bias);
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent) << k_fraction_bits);
}

double float_format::overflow() const noexcept
{
  auto const steps = std::ldexp(2.0, precision) - 1;  // the greatest number and a half of a step
  return std::ldexp(steps, most_exponent - precision);
}

std::string to_text(scalar_kind kind, number const& value)
{
  if (is_integer(kind)) {
    if (value.whole < 0) return detail::format("{}", static_cast<std::int64_t>(value.whole));
    return detail::format("{}", static_cast<std::uint64_t>(value.whole));
  }
  if (kind == scalar_kind::bytes)
    return detail::format("{:#04x}", static_cast<unsigned>(value.whole));
  if (std::isnan(value.real)) return "nan";  // the sign of a NaN says nothing
  if (kind == scalar_kind::float64) return detail::format("{:.17g}", value.real);
  return detail::format("{:.9g}", value.real);
}

namespace {

[[noreturn]] void fail_value(nlohmann::json const& value, element_type const& type)
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
  fail_value(value, type);
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
    fail_value(value, type);
}

template <typename Real>
void put_complex(std::byte* destination, nlohmann::json const& value, element_type const& type)
{
  constexpr auto k_kind = sizeof(Real) == 4 ? scalar_kind::float32 : scalar_kind::float64;
  if (value.is_number()) {  // the imaginary part is 0
    put(destination, static_cast<Real>(real_of(value, type, k_kind)));
    return;
  }
  if (!value.is_array() || value.size() != 2) fail_value(value, type);
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
  if (!value.is_object() || value.size() != type.fields.size()) fail_value(value, type);
  for (auto const& field : type.fields) {
    if (!value.contains(field.name)) fail_value(value, type);
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
