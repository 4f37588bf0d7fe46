// SPDX-License-Identifier: Apache-2.0
#include "util/files/npy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "fatlink/error.hpp"
#include "util/files/output_file.hpp"
#include "util/files/read_file.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// @throws file_error (invalid-npy) that `path` is refused for `reason`.
[[noreturn]] inline void fail_npy(std::filesystem::path const& path, std::string const& reason,
                                  std::string hint = "write it with numpy.save")
{
  throw file_error(stage::input, {.message = detail::format("{}: {}", path.string(), reason),
                                  .input = path.string(),
                                  .code = error_code::invalid_npy,
                                  .hint = std::move(hint)});
}

/// Reads a header from left to right. `text` and `path` must outlive it.
/// @throws file_error (invalid-npy) what was expected does not come next.
class literal_reader {
 public:
  literal_reader(std::string_view text, std::filesystem::path const& path)
      : rest_(text), path_(path)
  {
  }

  /// Whether `letter` comes next, after spaces; consumes it.
  bool accept(char letter)
  {
    skip_spaces();
    if (!rest_.starts_with(letter)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char letter)
  {
    if (!accept(letter)) fail_dtype(detail::format("'{}'", letter));
  }

  bool accept_word(std::string_view word)
  {
    skip_spaces();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  /// A string without escapes.
  std::string_view read_string()
  {
    skip_spaces();
    auto const quote = rest_.empty() ? '\0' : rest_.front();
    if (quote != '\'' && quote != '"') fail_dtype("a string");
    auto const end = rest_.find(quote, 1);
    if (end == std::string_view::npos) fail_dtype("the end of a string");
    auto const text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::size_t read_number()
  {
    skip_spaces();
    std::size_t number = 0;
    auto const [end, status] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (status != std::errc{}) fail_dtype("a number below 2^64");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return number;
  }

  void expect_end()
  {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n'))
      rest_.remove_prefix(1);
    if (!rest_.empty()) fail_dtype("nothing more");
  }

  [[noreturn]] void fail_dtype(std::string const& expected) const
  {
    fail_npy(path_, rest_.empty()
                        ? detail::format("its header is malformed: it ends where it should have {}",
                                         expected)
                        : detail::format("its header is malformed: \"{}\" where it should have {}",
                                         printable_line(rest_.substr(0, 24)), expected));
  }

  [[nodiscard]] std::filesystem::path const& path() const noexcept { return path_; }

 private:
  void skip_spaces()
  {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }

  std::string_view rest_;
  std::filesystem::path const& path_;
};

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
    if (extents.size() == 1) reader.fail_dtype("','");
    reader.expect(')');
    break;
  }
  return extents;
}

bool read_fortran_order(literal_reader& reader)
{
  if (reader.accept_word("True")) return true;
  if (!reader.accept_word("False")) reader.fail_dtype("True or False");
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

namespace fatlink {
namespace {

constexpr std::string_view k_magic{"\x93NUMPY", 6};
constexpr char const* k_remedy = "write it with numpy.save(file, x)";
constexpr char const* k_missing = "pass a .npy file, as numpy.save(file, x) writes it";
constexpr std::size_t k_most_header = 1 << 20;
constexpr std::size_t k_largest_size = std::numeric_limits<std::size_t>::max();

[[noreturn]] void fail_array(std::filesystem::path const& path, std::string const& reason,
                             char const* hint = k_remedy)
{
  throw file_error(stage::input, {.message = detail::format("{}: {}", path.string(), reason),
                                  .input = path.string(),
                                  .code = error_code::invalid_npy,
                                  .hint = hint});
}

/// The number of elements; nothing if it exceeds 64 bits.
std::optional<std::size_t> checked_product(std::span<std::size_t const> extents)
{
  std::size_t count = 1;
  if (std::ranges::find(extents, std::size_t{0}) != extents.end()) return 0;
  for (auto const extent : extents) {
    if (count > k_largest_size / extent) return std::nullopt;
    count *= extent;
  }
  return count;
}

}  // namespace

bool is_stored_as(element_type const& expected, element_type const& stored)
{
  if (expected.kind == scalar_kind::bfloat16 && stored == bytes_type(expected.size)) return true;
  if (expected.kind != scalar_kind::record) return expected == stored;
  return expected.kind == stored.kind && expected.size == stored.size &&
         std::ranges::equal(expected.fields, stored.fields, [](auto const& a, auto const& b) {
           return a.name == b.name && a.offset == b.offset && is_stored_as(a.type, b.type);
         });
}

struct npy_reader::state {
  std::filesystem::path path;
  detail::opened_file file;
  std::size_t begin = 0;  ///< offset of the first element
  std::size_t count = 0;
  detail::npy_header content = {};

  void read_header()
  {
    std::string head(10, '\0');
    read_bytes(0, head);
    if (!std::string_view(head).starts_with(k_magic)) fail_array(path, "is not a .npy file");
    auto const major = static_cast<unsigned char>(head[6]);
    if (major < 1 || major > 3)
      fail_array(path, detail::format("version {} of .npy is not known", major));
    auto const length_bytes = major == 1 ? 2U : 4U;
    std::string length(length_bytes, '\0');
    read_bytes(8, length);
    std::size_t size = 0;
    std::memcpy(&size, length.data(), length.size());
    if (size > k_most_header) fail_array(path, "its header is larger than 1 MiB");
    std::string header(size, '\0');
    read_bytes(8 + length_bytes, header);
    begin = 8 + length_bytes + size;
    content = detail::parse_npy_header(header, path);
    auto const elements = checked_product(content.extents);
    if (!elements || *elements > k_largest_size / content.type.size)
      fail_array(path, detail::format("its shape {} has more than 2^64 bytes",
                                      detail::npy_shape(content.extents)));
    count = *elements;
    check_size();
  }

  void check_size() const
  {
    auto const data_bytes = file.size - begin;
    auto const expected = count * content.type.size;
    if (expected > data_bytes)
      fail_array(path, detail::format("cut short: {} elements need {} bytes of data, {} are there",
                                      count, fmt::group_digits(expected), data_bytes));
    if (expected != data_bytes)
      fail_array(path,
                 detail::format("{} bytes follow its {} elements", data_bytes - expected, count));
  }

  void read_bytes(std::size_t offset, std::span<char> buffer) const
  {
    if (!detail::read_at(*file.file, offset, std::as_writable_bytes(buffer), path))
      fail_array(path, "cut short: ends inside its header");
  }
};

npy_reader::npy_reader(std::filesystem::path const& path)
    : state_(new state{.path = path, .file = detail::open_regular(path, k_missing)})
{
  state_->read_header();
}

npy_reader::npy_reader(int stream, std::string const& name)
    : state_(new state{.path = name, .file = detail::open_stream(stream, name)})
{
  state_->read_header();
}

npy_reader::~npy_reader() = default;
npy_reader::npy_reader(npy_reader&&) noexcept = default;
npy_reader& npy_reader::operator=(npy_reader&&) noexcept = default;

std::filesystem::path const& npy_reader::path() const noexcept
{
  return state_->path;
}
element_type const& npy_reader::type() const noexcept
{
  return state_->content.type;
}
std::vector<std::size_t> const& npy_reader::extents() const noexcept
{
  return state_->content.extents;
}
std::size_t npy_reader::size() const noexcept
{
  return state_->count;
}
std::string const& npy_reader::note() const noexcept
{
  return state_->content.note;
}

void npy_reader::read(std::size_t start, std::span<std::byte> bytes) const
{
  auto const offset = state_->begin + start * state_->content.type.size;
  if (!detail::read_at(*state_->file.file, offset, bytes, state_->path))
    fail_array(state_->path, "shrank while it was read");
}

struct npy_writer::state {
  std::unique_ptr<output_file> file;
  std::size_t element_bytes;
  std::size_t missing_bytes;
};

npy_writer::npy_writer(std::filesystem::path const& path, element_type const& type,
                       std::span<std::size_t const> extents)
    : npy_writer(std::make_unique<output_file>(path), type, extents)
{
}

npy_writer::npy_writer(std::unique_ptr<output_file> file, element_type const& type,
                       std::span<std::size_t const> extents)
    : state_(new state{.file = std::move(file),
                       .element_bytes = type.size,
                       .missing_bytes = checked_product(extents).value_or(0) * type.size})
{
  // <preamble> ::= magic, version 1.0 and the header's size in 2 bytes, or 2.0 and 4 bytes; the
  // data begins at a multiple of 64.
  auto header = detail::npy_header_text(type, extents);
  std::size_t const length_bytes = header.size() + 64 > 0xFFFF ? 4 : 2;
  auto const preamble_size = k_magic.size() + 2 + length_bytes;
  header.append(63 - (preamble_size + header.size()) % 64, ' ');
  header += '\n';
  std::string preamble(k_magic);
  preamble += length_bytes == 2 ? '\1' : '\2';
  preamble += '\0';
  for (std::size_t i = 0; i < length_bytes; ++i)
    preamble += static_cast<char>(header.size() >> (8 * i) & 0xFF);
  state_->file->write(std::as_bytes(std::span(preamble)));
  state_->file->write(std::as_bytes(std::span(header)));
}

npy_writer::~npy_writer() = default;
npy_writer::npy_writer(npy_writer&&) noexcept = default;
npy_writer& npy_writer::operator=(npy_writer&&) noexcept = default;

void npy_writer::append(std::span<std::byte const> bytes)
{
  if (bytes.size() > state_->missing_bytes)
    fail_array(state_->file->path(), "more elements than announced");
  state_->file->write(bytes);
  state_->missing_bytes -= bytes.size();
}

void npy_writer::commit()
{
  if (state_->missing_bytes != 0)
    fail_array(state_->file->path(), detail::format("{} elements were never written",
                                                    state_->missing_bytes / state_->element_bytes));
  state_->file->commit();
}

}  // namespace fatlink
