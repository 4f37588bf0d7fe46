// SPDX-License-Identifier: Apache-2.0
#include "verification/npy.hpp"

#include <charconv>
#include <cstring>
#include <string>

#include "util/files/output_file.hpp"
#include "util/files/read_file.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

constexpr std::string_view k_magic{"\x93NUMPY", 6};
constexpr char const* k_remedy = "write it with numpy.save(file, x.astype('<f4').ravel())";
constexpr std::size_t k_most_header = 1 << 20;

[[noreturn]] void fail(std::filesystem::path const& path, std::string const& reason)
{
  throw file_error(stage::input, {.message = detail::format("{}: {}", path.string(), reason),
                                  .input = path.string(),
                                  .code = error_code::invalid_npy,
                                  .hint = k_remedy});
}

/// The text after 'key': in the header's dictionary.
std::string_view value_of(std::string_view header, std::string_view key,
                          std::filesystem::path const& path)
{
  for (char const quote : {'\'', '"'}) {
    auto const name = detail::format("{}{}{}", quote, key, quote);
    auto const position = header.find(name);
    if (position == std::string_view::npos) continue;
    auto const suffix = header.substr(position + name.size());
    auto const value = suffix.find_first_not_of(" :");
    if (value != std::string_view::npos) return suffix.substr(value);
  }
  fail(path, detail::format("its header has no '{}'", key));
}

void check_type(std::string_view header, std::filesystem::path const& path)
{
  auto const value = value_of(header, "descr", path);
  auto const end = value.size() > 1 ? value.find(value.front(), 1) : std::string_view::npos;
  auto const type = end == std::string_view::npos ? value.substr(0, 16) : value.substr(1, end - 1);
  if (type != "<f4") fail(path, detail::format("dtype is {:.64}, not <f4 (float32)", type));
}

std::size_t read_shape(std::string_view header, std::filesystem::path const& path)
{
  auto const value = value_of(header, "shape", path);
  auto const end = value.find(')');
  if (!value.starts_with('(') || end == std::string_view::npos)
    fail(path, "its shape is malformed");
  auto const shape = value.substr(1, end - 1);
  std::size_t count = 0;
  auto const* const last = shape.data() + shape.size();
  auto const [rest, code] = std::from_chars(shape.data(), last, count);
  auto const after = std::string_view(rest, static_cast<std::size_t>(last - rest));
  if (code != std::errc{} || after.find_first_not_of(", ") != std::string_view::npos ||
      after.find(',') == std::string_view::npos)
    fail(path, detail::format("shape is ({:.64}), not one dimension", shape));
  if (count == 0) fail(path, "holds no elements");
  return count;
}

}  // namespace

struct npy_reader::state {
  std::filesystem::path path;
  detail::opened_file file;
  std::size_t begin = 0;  ///< offset of the first element
  std::size_t count = 0;

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
    check_type(header, path);
    count = read_shape(header, path);
    check_size();
  }

  void check_size() const
  {
    auto const data_bytes = file.size - begin;
    if (count > data_bytes / sizeof(float))
      fail(path, detail::format("cut short: {} elements need {} bytes of data, {} are there", count,
                                fmt::group_digits(count * 4), data_bytes));
    if (count * sizeof(float) != data_bytes)
      fail(path, detail::format("{} bytes follow its {} elements",
                                data_bytes - count * sizeof(float), count));
  }

  void read_bytes(std::size_t offset, std::span<char> buffer) const
  {
    if (!detail::read_at(*file.file, offset, std::as_writable_bytes(buffer), path))
      fail(path, "cut short: ends inside its header");
  }
};

npy_reader::npy_reader(std::filesystem::path const& path)
    : state_(new state{.path = path, .file = detail::open_regular(path, k_remedy)})
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
std::size_t npy_reader::size() const noexcept
{
  return state_->count;
}

void npy_reader::read(std::size_t start, std::span<float> values) const
{
  auto const offset = state_->begin + start * sizeof(float);
  if (!detail::read_at(*state_->file.file, offset, std::as_writable_bytes(values), state_->path))
    fail(state_->path, "shrank while it was read");
}

struct npy_writer::state {
  std::unique_ptr<output_file> file;
  std::size_t missing;
};

npy_writer::npy_writer(std::filesystem::path const& path, std::size_t count)
    : npy_writer(std::make_unique<output_file>(path), count)
{
}

npy_writer::npy_writer(std::unique_ptr<output_file> file, std::size_t count)
    : state_(new state{.file = std::move(file), .missing = count})
{
  auto header =
      detail::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({},), }}", count);
  constexpr std::size_t k_preamble = 10;
  header.append(63 - (k_preamble + header.size()) % 64, ' ');
  header += '\n';
  std::string preamble(k_magic);
  preamble +=
      {'\1', '\0', static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  state_->file->write(std::as_bytes(std::span(preamble)));
  state_->file->write(std::as_bytes(std::span(header)));
}

npy_writer::~npy_writer() = default;
npy_writer::npy_writer(npy_writer&&) noexcept = default;
npy_writer& npy_writer::operator=(npy_writer&&) noexcept = default;

void npy_writer::append(std::span<float const> values)
{
  if (values.size() > state_->missing) fail(state_->file->path(), "more elements than announced");
  state_->file->write(std::as_bytes(values));
  state_->missing -= values.size();
}

void npy_writer::commit()
{
  if (state_->missing != 0)
    fail(state_->file->path(), detail::format("{} elements were never written", state_->missing));
  state_->file->commit();
}

}  // namespace fatlink
