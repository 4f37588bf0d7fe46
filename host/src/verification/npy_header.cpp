// SPDX-License-Identifier: Apache-2.0
#include "verification/npy_header.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "util/text/format.hpp"
#include "util/text/printable.hpp"
#include "verification/npy_literals.hpp"

namespace fatlink::detail {
namespace {

constexpr std::size_t k_most_extents = 64;  // as NumPy 2
constexpr std::size_t k_most_bytes = 4096;  // of an element
constexpr char const* k_types =
    "convert it with x.astype to one of <f2 <f4 <f8 |i1 <i2 <i4 <i8 |u1 <u2 <u4 <u8 <c8 <c16, to "
    "bytes ('|V8'), or to a struct of these";

struct scalar_code {
  char const* code;
  scalar_kind kind;
};
constexpr std::array k_codes{
    scalar_code{"f2", scalar_kind::float16},    scalar_code{"f4", scalar_kind::float32},
    scalar_code{"f8", scalar_kind::float64},    scalar_code{"i1", scalar_kind::int8},
    scalar_code{"i2", scalar_kind::int16},      scalar_code{"i4", scalar_kind::int32},
    scalar_code{"i8", scalar_kind::int64},      scalar_code{"u1", scalar_kind::uint8},
    scalar_code{"u2", scalar_kind::uint16},     scalar_code{"u4", scalar_kind::uint32},
    scalar_code{"u8", scalar_kind::uint64},     scalar_code{"c8", scalar_kind::complex64},
    scalar_code{"c16", scalar_kind::complex128}};

/// The type of a dtype without fields; nothing for other text.
std::optional<element_type> scalar_of(std::string_view dtype)
{
  auto const order = dtype.empty() ? '\0' : dtype.front();
  auto const code = dtype.substr(std::min<std::size_t>(dtype.size(), 1));
  if (order != '<' && order != '|') return std::nullopt;
  if (code == "b1") return scalar_type(scalar_kind::uint8);
  for (auto const& known : k_codes) {
    auto const type = scalar_type(known.kind);
    if (code == known.code && (order == '<' || type.size == 1)) return type;
  }
  if (!code.starts_with('V')) return std::nullopt;
  return parse_element_type(detail::format("bytes{}", code.substr(1)));
}

element_type type_of(std::string_view dtype, npy_header& header, std::filesystem::path const& path)
{
  if (dtype.starts_with('>'))
    fail_npy(path, detail::format("dtype is {:.64}, which is big-endian", printable_line(dtype)),
             "convert it with x.astype(x.dtype.newbyteorder('<'))");
  auto const type = scalar_of(dtype);
  if (!type)
    fail_npy(path,
             detail::format("dtype is {:.64}, which fatlink does not read", printable_line(dtype)),
             k_types);
  if (dtype.ends_with("b1")) header.note = "bool is read as uint8";
  return *type;
}

/// Where the fields of C++'s layout are, that layout's alignment is the record's.
void set_alignment(element_type& record)
{
  std::size_t alignment = 1;
  auto aligned = true;
  for (auto const& field : record.fields) {
    alignment = std::max(alignment, field.type.alignment);
    aligned = aligned && field.offset % field.type.alignment == 0;
  }
  record.alignment = aligned && record.size % alignment == 0 ? alignment : 1;
}

void add_field(element_type& record, std::string_view name, element_type type,
               std::filesystem::path const& path)
{
  auto const offset = record.size;
  record.size += type.size;
  if (record.size > k_most_bytes)
    fail_npy(path, "an element has more than 4096 bytes", "use smaller structs");
  if (name.empty()) return;
  auto const is_valid = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  if (!std::ranges::all_of(name, is_valid) || (name.front() >= '0' && name.front() <= '9'))
    fail_npy(path, detail::format("the name of a field is \"{}\"", printable_line(name)),
             "use letters, digits and _ for the names of fields");
  if (type.kind == scalar_kind::bytes && type.size != 2)  // two may be a bfloat16
    fail_npy(path,
             detail::format("field {:.64} is of dtype V{}, which has no meaning as a number", name,
                            type.size),
             k_types);
  for (auto const& field : record.fields)
    if (field.name == name)
      fail_npy(path, detail::format("two fields are called {:.64}", name),
               "rename one of the fields");
  record.fields.push_back({.name = std::string(name), .type = std::move(type), .offset = offset});
}

element_type read_record(literal_reader& reader, npy_header& header)
{
  element_type record{.kind = scalar_kind::record, .size = 0, .alignment = 1, .fields = {}};
  constexpr char const* k_flat = "use a dtype whose fields are numbers, without arrays in it";
  while (!reader.accept(']')) {
    reader.expect('(');
    if (reader.accept('('))
      fail_npy(reader.path(), "a field of its dtype has a title", "use a dtype without titles");
    auto const name = reader.read_string();
    reader.expect(',');
    if (reader.accept('[')) fail_npy(reader.path(), "its dtype has a struct in a struct", k_flat);
    auto type = type_of(reader.read_string(), header, reader.path());
    if (reader.accept(',')) fail_npy(reader.path(), "a field of its dtype is an array", k_flat);
    reader.expect(')');
    add_field(record, name, std::move(type), reader.path());
    if (reader.accept(',')) continue;
    reader.expect(']');
    break;
  }
  if (record.fields.empty()) fail_npy(reader.path(), "its dtype has no fields", k_types);
  set_alignment(record);
  return record;
}

element_type read_type(literal_reader& reader, npy_header& header)
{
  if (reader.accept('[')) return read_record(reader, header);
  return type_of(reader.read_string(), header, reader.path());
}

std::vector<std::size_t> read_extents(literal_reader& reader)
{
  std::vector<std::size_t> extents;
  reader.expect('(');
  while (!reader.accept(')')) {
    if (extents.size() == k_most_extents)
      fail_npy(reader.path(), "its array has more than 64 dimensions", "write x.ravel()");
    extents.push_back(reader.read_number());
    if (reader.accept(',')) continue;
    // Python: (3) is a number and not a tuple.
    if (extents.size() == 1) reader.refuse("','");
    reader.expect(')');
    break;
  }
  return extents;
}

bool read_fortran_order(literal_reader& reader)
{
  if (reader.accept_word("True")) return true;
  if (!reader.accept_word("False")) reader.refuse("True or False");
  return false;
}

}  // namespace

npy_header parse_npy_header(std::string_view text, std::filesystem::path const& path)
{
  literal_reader reader(text, path);
  npy_header header;
  constexpr std::array<std::string_view, 3> k_keys{"descr", "fortran_order", "shape"};
  std::array<bool, 3> is_known{};
  auto fortran_order = false;
  reader.expect('{');
  while (!reader.accept('}')) {
    auto const key = reader.read_string();
    auto const place = std::ranges::find(k_keys, key);
    if (place == k_keys.end())
      fail_npy(path, detail::format("its header has the unknown key '{}'", printable_line(key)));
    auto const index = static_cast<std::size_t>(place - k_keys.begin());
    if (is_known.at(index)) fail_npy(path, detail::format("its header has '{}' twice", key));
    is_known.at(index) = true;
    reader.expect(':');
    if (index == 0) header.type = read_type(reader, header);
    if (index == 1) fortran_order = read_fortran_order(reader);
    if (index == 2) header.extents = read_extents(reader);
    if (reader.accept(',')) continue;
    reader.expect('}');
    break;
  }
  reader.expect_end();
  for (std::size_t i = 0; i < k_keys.size(); ++i)
    if (!is_known.at(i)) fail_npy(path, detail::format("its header has no '{}'", k_keys.at(i)));
  if (fortran_order && header.extents.size() > 1)
    fail_npy(path, "its array is in Fortran order (column-major)",
             "write numpy.ascontiguousarray(x), which is row-major");
  return header;
}

std::string npy_dtype(element_type const& type)
{
  if (type.kind == scalar_kind::bytes) return detail::format("'|V{}'", type.size);
  if (type.kind == scalar_kind::bfloat16) return "'<V2'";
  if (type.kind != scalar_kind::record) {
    auto const* const known = std::ranges::find(k_codes, type.kind, &scalar_code::kind);
    return detail::format("'{}{}'", type.size == 1 ? '|' : '<', known->code);
  }
  std::string list;
  std::size_t end = 0;
  auto const pad_to = [&](std::size_t offset) {
    if (offset > end)
      list += detail::format("{}('', '|V{}')", list.empty() ? "" : ", ", offset - end);
  };
  for (auto const& field : type.fields) {
    pad_to(field.offset);
    list +=
        detail::format("{}('{}', {})", list.empty() ? "" : ", ", field.name, npy_dtype(field.type));
    end = field.offset + field.type.size;
  }
  pad_to(type.size);
  return "[" + list + "]";
}

std::string npy_shape(std::span<std::size_t const> extents)
{
  std::string list;
  for (auto const extent : extents)
    list += detail::format("{}{}", list.empty() ? "" : ", ", extent);
  return "(" + list + (extents.size() == 1 ? ",)" : ")");
}

std::string npy_header_text(element_type const& type, std::span<std::size_t const> extents)
{
  return detail::format("{{'descr': {}, 'fortran_order': False, 'shape': {}, }}", npy_dtype(type),
                        npy_shape(extents));
}

}  // namespace fatlink::detail
