// SPDX-License-Identifier: Apache-2.0
#include "fatlink/element_type.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/identifier.hpp"
#include "fatlink/error.hpp"

namespace fatlink {
namespace {

struct scalar_fact {
  char const* name;
  std::size_t size;
  std::size_t alignment;
};

// In the order of scalar_kind.
constexpr std::array k_scalars{
    scalar_fact{"float16", 2, 2},   scalar_fact{"bfloat16", 2, 2},     scalar_fact{"float32", 4, 4},
    scalar_fact{"float64", 8, 8},   scalar_fact{"int8", 1, 1},         scalar_fact{"int16", 2, 2},
    scalar_fact{"int32", 4, 4},     scalar_fact{"int64", 8, 8},        scalar_fact{"uint8", 1, 1},
    scalar_fact{"uint16", 2, 2},    scalar_fact{"uint32", 4, 4},       scalar_fact{"uint64", 8, 8},
    scalar_fact{"complex64", 8, 8}, scalar_fact{"complex128", 16, 16}, scalar_fact{"bytes", 0, 1},
    scalar_fact{"record", 0, 1}};

scalar_fact const& fact_of(scalar_kind kind)
{
  return k_scalars.at(static_cast<std::size_t>(kind));
}

[[noreturn]] void fail_type(std::string message, std::string hint)
{
  throw usage_error({.message = std::move(message),
                     .code = error_code::invalid_argument,
                     .hint = std::move(hint)});
}

void check_size(std::string const& type, std::size_t size)
{
  if (size >= 1 && size <= k_element_bytes) return;
  fail_type(type + " has " + std::to_string(size) + " bytes", "an element has 1 to 4096 bytes");
}

void check_field(element_type const& record, std::string const& name, element_type const& type)
{
  if (!detail::is_identifier(name))
    fail_type("'" + name + "' is not the name of a field", "use letters, digits and _");
  for (auto const& field : record.fields)
    if (field.name == name) fail_type("two fields are called '" + name + "'", "rename one of them");
  if (type.kind == scalar_kind::record || type.kind == scalar_kind::bytes)
    fail_type("field '" + name + "' is of type " + to_string(type),
              "a field is a number, such as float32");
}

std::size_t rounded_up(std::size_t size, std::size_t alignment)
{
  return (size + alignment - 1) / alignment * alignment;
}

}  // namespace

bool operator==(element_type const& a, element_type const& b)
{
  return a.kind == b.kind && a.size == b.size &&
         std::ranges::equal(a.fields, b.fields, [](auto const& x, auto const& y) {
           return x.name == y.name && x.offset == y.offset && x.type == y.type;
         });
}

element_type scalar_type(scalar_kind kind)
{
  auto const& fact = fact_of(kind);
  if (fact.size == 0)
    fail_type(std::string(fact.name) + " is not the type of a number", "use float32, for example");
  return {.kind = kind, .size = fact.size, .alignment = fact.alignment, .fields = {}};
}

element_type bytes_type(std::size_t size)
{
  check_size("bytes" + std::to_string(size), size);
  return {.kind = scalar_kind::bytes, .size = size, .alignment = 1, .fields = {}};
}

element_type record_type(std::string name, std::vector<std::string> const& names,
                         std::vector<element_type> const& types)
{
  if (names.empty() || names.size() != types.size())
    fail_type("struct '" + name + "' has no fields, or not one type for each",
              "state at least one field");
  element_type record{.kind = scalar_kind::record,
                      .size = 0,
                      .alignment = 1,
                      .name = std::move(name),
                      .fields = {}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    check_field(record, names[i], types[i]);
    auto const offset = rounded_up(record.size, types[i].alignment);
    record.fields.push_back({.name = names[i], .type = types[i], .offset = offset});
    record.size = offset + types[i].size;
    record.alignment = std::max(record.alignment, types[i].alignment);
    check_size("struct '" + record.name + "'", record.size);
  }
  record.size = rounded_up(record.size, record.alignment);
  check_size("struct '" + record.name + "'", record.size);
  return record;
}

std::optional<element_type> parse_element_type(std::string_view text)
{
  for (auto const& fact : k_scalars)
    if (fact.size != 0 && text == fact.name)
      return scalar_type(static_cast<scalar_kind>(&fact - k_scalars.data()));
  constexpr std::string_view k_bytes = "bytes";
  if (!text.starts_with(k_bytes)) return std::nullopt;
  text.remove_prefix(k_bytes.size());
  std::size_t size = 0;
  auto const [end, status] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (status != std::errc{} || end != text.data() + text.size() || text.starts_with('0') ||
      size > k_element_bytes)
    return std::nullopt;
  return bytes_type(size);
}

std::string to_string(element_type const& type)
{
  if (type.kind == scalar_kind::bytes) return "bytes" + std::to_string(type.size);
  if (type.kind != scalar_kind::record) return to_string(type.kind);
  if (!type.name.empty()) return type.name;
  std::string text;
  for (auto const& field : type.fields)
    text += (text.empty() ? "{" : ", ") + field.name + ": " + to_string(field.type);
  return text + "}";
}

char const* to_string(scalar_kind kind) noexcept
{
  auto const index = static_cast<std::size_t>(kind);
  return index < k_scalars.size() ? k_scalars[index].name : "unknown";
}

}  // namespace fatlink
