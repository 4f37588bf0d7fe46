// SPDX-License-Identifier: Apache-2.0
#include "toolkit/elf_file.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "util/bytes/byte_reader.hpp"
#include "util/bytes/sha256.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::uint64_t k_most_table = std::uint64_t{4} << 20;  // bytes of one table
constexpr std::size_t k_most_headers = 256;

/// The sum, or the largest number if that overflows.
std::uint64_t end_of(elf_segment const& segment)
{
  auto const end = segment.offset + segment.size;
  return end < segment.offset ? std::numeric_limits<std::uint64_t>::max() : end;
}

}  // namespace

elf_file::elf_file(std::string path) : path_(std::move(path)), opened_(open_regular(path_, {}))
{
  auto const header = read(0, sizeof(Elf64_Ehdr));
  elf_reader const elf(header);
  if (elf.machine() != k_host_machine) throw not_a_shared_library{};
  auto const table = elf.segment_table();
  if (table.size > k_most_headers * sizeof(Elf64_Phdr)) throw not_a_shared_library{};
  segments_ = read_segments(read(table.offset, table.size));
}

std::uint64_t elf_file::needed_size() const
{
  std::uint64_t needed = 0;
  for (auto const& segment : segments_)
    if (segment.type == PT_LOAD) needed = std::max(needed, end_of(segment));
  return needed;
}

std::string elf_file::names() const
{
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  auto const table = read_dynamic();
  byte_reader const entries(table);
  for (std::uint64_t position = 0; position + sizeof(Elf64_Dyn) <= table.size();
       position += sizeof(Elf64_Dyn)) {
    auto const tag = entries.read<std::int64_t>(position);
    auto const value = entries.read<std::uint64_t>(position + offsetof(Elf64_Dyn, d_un));
    if (tag == DT_STRTAB) address = value;
    if (tag == DT_STRSZ) size = value;
  }
  auto const text = read(offset_of(address), size);
  return {reinterpret_cast<char const*>(text.data()), text.size()};
}

std::string elf_file::build_id() const
{
  for (auto const& segment : segments_) {
    if (segment.type != PT_NOTE) continue;
    if (auto id = build_id_in(read(segment.offset, segment.size)); !id.empty()) return id;
  }
  return {};
}

std::string elf_file::sha256() const
{
  constexpr std::uint64_t k_chunk = std::uint64_t{1} << 20;
  sha256_hasher hasher;
  for (std::uint64_t offset = 0; offset < size(); offset += k_chunk)
    hasher.add(read(offset, std::min(k_chunk, size() - offset)));
  return to_hexadecimal(hasher.finish());
}

byte_buffer elf_file::read(std::uint64_t offset, std::uint64_t size) const
{
  if (size > k_most_table || offset > opened_.size || size > opened_.size - offset)
    throw not_a_shared_library{};
  byte_buffer bytes(size);
  if (!read_at(*opened_.file, offset, bytes, path_)) throw not_a_shared_library{};
  return bytes;
}

byte_buffer elf_file::read_dynamic() const
{
  elf_segment dynamic;
  for (auto const& segment : segments_)
    if (segment.type == PT_DYNAMIC) dynamic = segment;
  return read(dynamic.offset, dynamic.size);
}

std::uint64_t elf_file::offset_of(std::uint64_t address) const
{
  for (auto const& segment : segments_)
    if (segment.type == PT_LOAD && address >= segment.address &&
        address - segment.address < segment.size)
      return segment.offset + (address - segment.address);
  throw not_a_shared_library{};
}

std::string explain_truncation(std::string const& path)
try {
  elf_file const file(path);
  if (!file.is_truncated()) return {};
  return detail::format("is truncated: it has {} bytes, and its segments need {}; install it again",
                        file.size(), file.needed_size());
} catch (file_error const&) {
  return {};
} catch (not_a_shared_library const&) {
  return {};
} catch (elf_error const&) {
  return {};
} catch (out_of_bytes const&) {
  return {};
}

}  // namespace fatlink::detail
