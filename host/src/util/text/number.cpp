// SPDX-License-Identifier: Apache-2.0
#include "util/text/number.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

namespace fatlink::detail {
namespace {

constexpr long k_largest_exponent = 10000;  ///< beyond it every number but 0 is out of range

bool is_digit(char letter)
{
  return letter >= '0' && letter <= '9';
}

/// Removes the digits at the start of `text`.
std::string_view take_digits(std::string_view& text)
{
  auto const end = std::find_if_not(text.begin(), text.end(), is_digit);
  auto const digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

/// A parsed number, `digits` * 10^`exponent`, and the text after it.
struct written_number {
  std::string digits;  ///< without a point and without zeros at the start
  long exponent = 0;
  std::string_view rest;
};

/// Removes an exponent such as "e6"; nullopt if its digits are missing.
std::optional<long> take_exponent(std::string_view& text)
{
  if (text.empty() || (text.front() != 'e' && text.front() != 'E')) return 0;
  text.remove_prefix(1);
  auto const is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  auto const digits = take_digits(text);
  if (digits.empty()) return std::nullopt;
  long value = 0;
  auto const code = std::from_chars(digits.data(), digits.data() + digits.size(), value).ec;
  if (code != std::errc{} || value > k_largest_exponent) value = k_largest_exponent;
  return is_negative ? -value : value;
}

std::optional<written_number> split(std::string_view text)
{
  auto const integer_part = take_digits(text);
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = take_digits(text);
    if (fraction.empty()) return std::nullopt;
  }
  auto const exponent = take_exponent(text);
  if (integer_part.empty() || !exponent) return std::nullopt;
  auto digits = std::string(integer_part) + std::string(fraction);
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  return written_number{digits, *exponent - static_cast<long>(fraction.size()), text};
}

/// The factor of `unit`, a power of 1000 or 1024; nullopt for an unknown unit.
std::optional<std::uint64_t> scale_of(std::string_view unit)
{
  if (unit.empty()) return 1;
  auto const is_binary = unit.ends_with('i');
  if (is_binary) unit.remove_suffix(1);
  auto const power = unit == "k" && !is_binary ? 0 : std::string_view("KMG").find(unit);
  if (unit.size() != 1 || power == std::string_view::npos) return std::nullopt;
  std::uint64_t scale = 1;
  for (std::size_t i = 0; i <= power; ++i) scale *= is_binary ? 1024U : 1000U;
  return scale;
}

/// Divides the product of both by 10; false if it is not a multiple of 10.
bool divide_by_ten(std::uint64_t& value, std::uint64_t& scale)
{
  for (unsigned const prime : {2U, 5U}) {
    auto& multiple = value % prime == 0 ? value : scale;
    if (multiple % prime != 0) return false;
    multiple /= prime;
  }
  return true;
}

}  // namespace

std::optional<std::uint64_t> read_count(std::string_view text)
{
  auto const number = split(text);
  auto const unit = number ? scale_of(number->rest) : std::nullopt;
  if (!unit) return std::nullopt;
  if (number->digits.empty()) return 0;
  auto digits = number->digits;
  auto exponent = number->exponent;
  for (; digits.ends_with('0'); ++exponent) digits.pop_back();
  std::uint64_t value = 0;
  auto const code = std::from_chars(digits.data(), digits.data() + digits.size(), value).ec;
  if (code != std::errc{}) return std::nullopt;
  auto scale = *unit;
  for (; exponent < 0; ++exponent)
    if (!divide_by_ten(value, scale)) return std::nullopt;
  for (; exponent > 0; --exponent)
    if (__builtin_mul_overflow(value, std::uint64_t{10}, &value)) return std::nullopt;
  if (__builtin_mul_overflow(value, scale, &value)) return std::nullopt;
  return value;
}

std::optional<double> read_decimal(std::string_view text)
{
  auto const number = split(text);
  if (!number || !number->rest.empty()) return std::nullopt;
  double value = 0;
  auto const code = std::from_chars(text.data(), text.data() + text.size(), value).ec;
  if (code != std::errc{}) return std::nullopt;
  return value;
}

}  // namespace fatlink::detail
