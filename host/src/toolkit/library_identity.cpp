// SPDX-License-Identifier: Apache-2.0
#include "toolkit/library_identity.hpp"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <vector>

#include "util/bytes/elf_reader.hpp"
#include "util/bytes/sha256.hpp"
#include "util/files/read_file.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::uint64_t k_most_table = std::uint64_t{4} << 20;  // bytes of one table
constexpr std::size_t k_most_headers = 256;

/// The file is not a 64-bit x86 shared library.
struct not_a_shared_library {};

class elf_file {
 public:
  explicit elf_file(std::string path) : path_(std::move(path)), opened_(open_regular(path_, {}))
  {
    auto const header = read(0, sizeof(Elf64_Ehdr));
    elf_reader const elf(header);
    if (elf.machine() != EM_X86_64) throw not_a_shared_library{};
    auto const table = elf.segment_table();
    if (table.size > k_most_headers * sizeof(Elf64_Phdr)) throw not_a_shared_library{};
    segments_ = read_segments(read(table.offset, table.size));
  }

  [[nodiscard]] std::uint64_t size() const noexcept { return opened_.size; }

  /// The dynamic string table: all exported names, each terminated by NUL.
  [[nodiscard]] std::string names() const
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

  /// In hexadecimal; empty if the file has none.
  [[nodiscard]] std::string build_id() const
  {
    for (auto const& segment : segments_) {
      if (segment.type != PT_NOTE) continue;
      if (auto id = build_id_in(read(segment.offset, segment.size)); !id.empty()) return id;
    }
    return {};
  }

  [[nodiscard]] std::string sha256() const
  {
    constexpr std::uint64_t k_chunk = std::uint64_t{1} << 20;
    sha256_hasher hasher;
    for (std::uint64_t offset = 0; offset < size(); offset += k_chunk)
      hasher.add(read(offset, std::min(k_chunk, size() - offset)));
    return to_hexadecimal(hasher.finish());
  }

 private:
  [[nodiscard]] byte_buffer read(std::uint64_t offset, std::uint64_t size) const
  {
    if (size > k_most_table || offset > opened_.size || size > opened_.size - offset)
      throw not_a_shared_library{};
    byte_buffer bytes(size);
    if (!read_at(*opened_.file, offset, bytes, path_)) throw not_a_shared_library{};
    return bytes;
  }

  /// The last dynamic section; empty if there is none.
  [[nodiscard]] byte_buffer read_dynamic() const
  {
    elf_segment dynamic;
    for (auto const& segment : segments_)
      if (segment.type == PT_DYNAMIC) dynamic = segment;
    return read(dynamic.offset, dynamic.size);
  }

  [[nodiscard]] std::uint64_t offset_of(std::uint64_t address) const
  {
    for (auto const& segment : segments_)
      if (segment.type == PT_LOAD && address >= segment.address &&
          address - segment.address < segment.size)
        return segment.offset + (address - segment.address);
    throw not_a_shared_library{};
  }

  std::string path_;
  opened_file opened_;
  std::vector<elf_segment> segments_;
};

struct mapped_search {
  std::uintptr_t address;
  std::string build_id;
};

/// Callback of dl_iterate_phdr: returns 1, which ends the iteration, for the object that holds the
/// address.
int look_for_build_id(dl_phdr_info* object, std::size_t, void* data)
{
  auto& search = *static_cast<mapped_search*>(data);
  auto const segments = std::span(object->dlpi_phdr, object->dlpi_phnum);
  auto const has_address = [&](auto const& segment) {
    auto const begin = object->dlpi_addr + segment.p_vaddr;
    return segment.p_type == PT_LOAD && search.address >= begin &&
           search.address - begin < segment.p_memsz;
  };
  if (std::none_of(segments.begin(), segments.end(), has_address)) return 0;
  for (auto const& segment : segments)
    if (segment.p_type == PT_NOTE && search.build_id.empty())
      search.build_id =
          build_id_in({reinterpret_cast<std::byte const*>(object->dlpi_addr + segment.p_vaddr),
                       static_cast<std::size_t>(segment.p_filesz)});
  return 1;
}

/// The newest version among exported `names` that begin with `prefix`; -1 if there is none.
int newest_minor(std::string const& names, std::string_view prefix)
{
  int newest = -1;
  for (auto position = names.find(prefix); position != std::string::npos;
       position = names.find(prefix, position + 1)) {
    int minor = -1;
    auto const* const digits = names.data() + position + prefix.size();
    std::from_chars(digits, names.data() + names.size(), minor);
    newest = std::max(newest, minor);
  }
  return newest;
}

/// The version of `library` whose exported names these are; empty if they are another library's.
std::optional<std::string> version_in(std::string const& names, vendor_library const& library)
{
  for (auto const* function : library.functions)
    if (names.find(function) == std::string::npos) return std::nullopt;
  auto const unknown = detail::format("{}.?", library.major);
  if (library.versioned_name.empty()) return unknown;
  auto const minor =
      newest_minor(names, detail::format("__{}_{}_", library.versioned_name, library.major));
  if (minor >= 0) return detail::format("{}.{}", library.major, minor);
  auto const has_other_versions =
      names.find(detail::format("__{}_", library.versioned_name)) != std::string::npos;
  return has_other_versions ? std::nullopt : std::optional(unknown);
}

}  // namespace

std::optional<std::string> library_identity(std::string const& path, vendor_library const& library)
try {
  if (::access(path.c_str(), R_OK) != 0) return std::nullopt;
  elf_file const file(path);
  auto const version = version_in(file.names(), library);
  if (!version) return std::nullopt;
  auto const build_id = file.build_id();
  return detail::format("{} {} {}", *version, build_id.empty() ? file.sha256() : build_id,
                        file.size());
} catch (file_error const&) {
  return std::nullopt;
} catch (not_a_shared_library const&) {
  return std::nullopt;
} catch (elf_error const&) {
  return std::nullopt;
} catch (out_of_bytes const&) {
  return std::nullopt;
}

std::string mapped_build_id(void const* function)
try {
  mapped_search search{reinterpret_cast<std::uintptr_t>(function), {}};
  ::dl_iterate_phdr(look_for_build_id, &search);
  return search.build_id;
} catch (out_of_bytes const&) {
  return {};
}

}  // namespace fatlink::detail
