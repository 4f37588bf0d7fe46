// SPDX-License-Identifier: Apache-2.0
#include "verification/npy.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include "util/files/output_file.hpp"
#include "util/files/read_file.hpp"
#include "util/text/format.hpp"
#include "verification/npy_header.hpp"

namespace fatlink {
namespace {

constexpr std::string_view k_magic{"\x93NUMPY", 6};
constexpr char const* k_remedy = "write it with numpy.save(file, x)";
constexpr char const* k_missing = "pass a .npy file, as numpy.save(file, x) writes it";
constexpr std::size_t k_most_header = 1 << 20;
constexpr std::size_t k_largest_size = std::numeric_limits<std::size_t>::max();

[[noreturn]] void fail(std::filesystem::path const& path, std::string const& reason,
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
    if (!std::string_view(head).starts_with(k_magic)) fail(path, "is not a .npy file");
    auto const major = static_cast<unsigned char>(head[6]);
    if (major < 1 || major > 3)
      fail(path, detail::format("version {} of .npy is not known", major));
    auto const length_bytes = major == 1 ? 2U : 4U;
    std::string length(length_bytes, '\0');
    read_bytes(8, length);
    std::size_t size = 0;
    std::memcpy(&size, length.data(), length.size());
    if (size > k_most_header) fail(path, "its header is larger than 1 MiB");
    std::string header(size, '\0');
    read_bytes(8 + length_bytes, header);
    begin = 8 + length_bytes + size;
    content = detail::parse_npy_header(header, path);
    auto const elements = checked_product(content.extents);
    if (!elements || *elements > k_largest_size / content.type.size)
      fail(path, detail::format("its shape {} has more than 2^64 bytes",
                                detail::npy_shape(content.extents)));
    count = *elements;
    check_size();
  }

  void check_size() const
  {
    auto const data_bytes = file.size - begin;
    auto const expected = count * content.type.size;
    if (expected > data_bytes)
      fail(path, detail::format("cut short: {} elements need {} bytes of data, {} are there", count,
                                fmt::group_digits(expected), data_bytes));
    if (expected != data_bytes)
      fail(path, detail::format("{} bytes follow its {} elements", data_bytes - expected, count));
  }

  void read_bytes(std::size_t offset, std::span<char> buffer) const
  {
    if (!detail::read_at(*file.file, offset, std::as_writable_bytes(buffer), path))
      fail(path, "cut short: ends inside its header");
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
    fail(state_->path, "shrank while it was read");
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
    fail(state_->file->path(), "more elements than announced");
  state_->file->write(bytes);
  state_->missing_bytes -= bytes.size();
}

void npy_writer::commit()
{
  if (state_->missing_bytes != 0)
    fail(state_->file->path(), detail::format("{} elements were never written",
                                              state_->missing_bytes / state_->element_bytes));
  state_->file->commit();
}

}  // namespace fatlink
