// SPDX-License-Identifier: Apache-2.0
#include "util/text/sequence.hpp"

#include <span>

namespace fatlink::detail {
namespace {

constexpr std::uint32_t k_most_count = 4096;

std::string text_of(bytes_view bytes)
{
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

}  // namespace

void sequence_writer::text(std::string const& value)
{
  number(static_cast<std::uint32_t>(value.size()));
  raw(value.data(), value.size());
}

void sequence_writer::texts(std::vector<std::string> const& values)
{
  number(static_cast<std::uint32_t>(values.size()));
  for (auto const& value : values) text(value);
}

void sequence_writer::long_text(std::string_view value)
{
  bytes(std::as_bytes(std::span(value)));
}

void sequence_writer::bytes(bytes_view value)
{
  number(static_cast<std::uint64_t>(value.size()));
  raw(value.data(), value.size());
}

bytes_view sequence_reader::view(std::uint64_t size)
try {
  auto const part = bytes_.view(at_, size);
  at_ += size;
  return part;
} catch (out_of_bytes const&) {
  throw sequence_error("a size is past the end");
}

std::string sequence_reader::text()
{
  return text_of(view(number<std::uint32_t>()));
}

std::string sequence_reader::text(std::size_t longest)
{
  auto const size = number<std::uint32_t>();
  if (size > longest) throw sequence_error("a text is too long");
  return text_of(view(size));
}

std::string sequence_reader::long_text()
{
  return text_of(view(number<std::uint64_t>()));
}

std::uint32_t sequence_reader::count()
{
  auto const result = number<std::uint32_t>();
  if (result > k_most_count) throw sequence_error("a count is too large");
  return result;
}

std::uint32_t sequence_reader::count_of(std::size_t least_bytes)
{
  auto const result = number<std::uint32_t>();
  if (result > (bytes_.size() - at_) / least_bytes)
    throw sequence_error("a count is larger than the bytes that follow");
  return result;
}

std::vector<std::string> sequence_reader::texts()
{
  std::vector<std::string> values(count());
  for (auto& value : values) value = text();
  return values;
}

byte_buffer sequence_reader::bytes()
{
  auto const part = view(number<std::uint64_t>());
  return {part.begin(), part.end()};
}

void sequence_reader::expect_end() const
{
  if (at_ != bytes_.size()) throw sequence_error("bytes are left after the end");
}

}  // namespace fatlink::detail
