// SPDX-License-Identifier: Apache-2.0
// Reads the entries of a container, and the PTX of an entry.
// The format: docs/fatbin_format.md.
#include <utility>

#include "fatbin/layout.hpp"
#include "fatbin/recognize_form.hpp"
#include "fatlink/fatbin.hpp"
#include "util/bytes/byte_reader.hpp"
#include "util/bytes/decompress.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

using namespace layout;
constexpr char const* k_rebuild = "build it again, or copy it again in full";
constexpr char const* k_split_fatbin = "split it into several fatbins, each with fewer sources";
constexpr char const* k_entry_limit = "above 256 MiB, the limit for one entry";
static_assert(limits::k_entry_bytes == std::uint64_t{256} << 20);

class reader {
 public:
  reader(bytes_view image, std::string_view name) : bytes_(image), name_(name) {}

  std::vector<fatbin_entry> read()
  try {
    if (bytes_.size() == 0) fail(error_code::empty_input, 0, "the file is empty");
    if (bytes_.size() < 4 || bytes_.read<std::uint32_t>(0) != k_magic) fail_other_form();
    for (std::uint64_t offset = 0; offset < bytes_.size();) offset = read_container(offset);
    if (entries_.empty()) fail(error_code::corrupt_fatbin, 0, "holds no entries");
    return std::move(entries_);
  } catch (detail::out_of_bytes const& end) {
    corrupt(end.offset,
            detail::format("truncated: {} bytes are needed here, the file has {} in all",
                           end.wanted, end.size));
  }

 private:
  [[noreturn]] void fail(error_code code, std::uint64_t offset, std::string const& cause,
                         std::string const& hint = k_rebuild) const
  {
    throw format_error(offset,
                       {.message = detail::format("{}: {}, at byte {}", name_, cause, offset),
                        .input = name_,
                        .code = code,
                        .hint = hint});
  }
  [[noreturn]] void fail_other_form() const
  {
    auto const form = detail::recognize_form(bytes_.view(0, bytes_.size()));
    fail(error_code::not_a_fatbin, 0, "not a fatbin but " + form.description, form.remedy);
  }
  [[noreturn]] void corrupt(std::uint64_t offset, std::string const& cause) const
  {
    fail(error_code::corrupt_fatbin, offset, cause);
  }

  [[noreturn]] void exceed(std::uint64_t offset, std::string const& excess,
                           std::string const& hint) const
  {
    fail(error_code::above_limit, offset, excess, hint);
  }

  /// Returns the offset after the container.
  std::uint64_t read_container(std::uint64_t offset)
  {
    if (bytes_.read<std::uint32_t>(offset) != k_magic)
      corrupt(offset, "bytes after the last container");
    if (auto const version = bytes_.read<std::uint16_t>(offset + 4); version != k_version)
      corrupt(offset + 4, detail::format("container version {} is not known", version));
    if (auto const size = bytes_.read<std::uint16_t>(offset + 6); size != k_container_header)
      corrupt(offset + 6, detail::format("container header of {} bytes is not known", size));
    auto const length = bytes_.read<std::uint64_t>(offset + 8);
    auto const begin = offset + k_container_header;
    (void)bytes_.view(begin, length);
    for (auto entry = begin; entry < begin + length;) entry = read_entry(entry, begin + length);
    return begin + length;
  }

  /// Returns the offset after the entry, which must end by `end`.
  std::uint64_t read_entry(std::uint64_t offset, std::uint64_t end)
  {
    auto const header = bytes_.read<std::uint32_t>(offset + 0x04);
    if (header < k_least_entry_header || header % 8 != 0)
      corrupt(offset + 4, detail::format("entry header of {} bytes", header));
    if (auto const version = bytes_.read<std::uint16_t>(offset + 2); version != k_entry_version)
      corrupt(offset + 2, detail::format("entry version {:#x} is not known", version));
    if (header > end - offset) corrupt(offset + 4, "entry header past the container's end");
    auto const padded = bytes_.read<std::uint64_t>(offset + 0x08);
    if (padded > end - offset - header)
      corrupt(offset + 8, "entry payload past the container's end");
    if (entries_.size() == limits::k_entries)
      exceed(offset, detail::format("holds more than {} entries, the limit", limits::k_entries),
             k_split_fatbin);
    entries_.push_back(read_fields(offset, header, padded));
    return offset + header + padded;
  }

  fatbin_entry read_fields(std::uint64_t offset, std::uint32_t header, std::uint64_t padded)
  {
    fatbin_entry entry;
    entry.kind = kind_of(offset);
    entry.flags = bytes_.read<std::uint64_t>(offset + 0x28);
    entry.target = target_of(offset, entry.flags);
    entry.version_minor = bytes_.read<std::uint16_t>(offset + 0x18);
    entry.version_major = bytes_.read<std::uint16_t>(offset + 0x1A);
    entry.scramble_key = bytes_.read<std::uint64_t>(offset + 0x30);
    entry.offset = offset;
    read_payload(entry, offset, header, padded);
    count_bytes(entry);
    read_options(entry, header);
    entry.ident_text =
        header_text(offset, header, bytes_.read<std::uint32_t>(offset + 0x20),
                    bytes_.read<std::uint32_t>(offset + 0x24), "ident", limits::k_ident_bytes);
    return entry;
  }

  void count_bytes(fatbin_entry const& entry)
  {
    if (entry.uncompressed_size > limits::k_entry_bytes)
      exceed(entry.offset,
             detail::format("an entry of {} MiB once decompressed, {}",
                            entry.uncompressed_size >> 20U, k_entry_limit),
             k_split_fatbin);
    bytes_in_all_ += entry.uncompressed_size;
    if (bytes_in_all_ > limits::k_fatbin_bytes)
      exceed(entry.offset, "its entries are above 1 GiB once decompressed, the limit for a fatbin",
             k_split_fatbin);
  }

  [[nodiscard]] entry_kind kind_of(std::uint64_t offset) const
  {
    auto const kind = bytes_.read<std::uint16_t>(offset);
    switch (static_cast<entry_kind>(kind)) {
      case entry_kind::ptx:
      case entry_kind::elf:
      case entry_kind::ltoir:
        return static_cast<entry_kind>(kind);
    }
    corrupt(offset, detail::format("entry kind {} is not known", kind));
  }

  [[nodiscard]] target target_of(std::uint64_t offset, std::uint64_t flags) const
  {
    auto const number = bytes_.read<std::uint32_t>(offset + 0x1C);
    if (number < 10 || number > 999)
      corrupt(offset + 0x1C, detail::format("architecture {}", number));
    auto const suffix = (flags & k_flag_arch_specific) != 0     ? 'a'
                        : (flags & k_flag_family_specific) != 0 ? 'f'
                                                                : '\0';
    return target(number, suffix);
  }

  void read_payload(fatbin_entry& entry, std::uint64_t offset, std::uint32_t header,
                    std::uint64_t padded)
  {
    auto const compressed = bytes_.read<std::uint32_t>(offset + 0x10);
    auto const raw = bytes_.read<std::uint64_t>(offset + 0x38);
    if (compressed > padded) corrupt(offset + 0x10, "compressed size past the entry's payload");
    auto const is_zstd = (entry.flags & k_flag_zstd) != 0;
    auto const is_lz4 = (entry.flags & k_flag_lz4) != 0;
    if (is_zstd && is_lz4) corrupt(offset + 0x28, "both compression flags set");
    if (compressed != 0 && !is_zstd && !is_lz4) corrupt(offset + 0x28, "unknown compression");
    entry.compression = compressed == 0 ? compression::none
                        : is_zstd       ? compression::zstd
                                        : compression::lz4;
    entry.payload = bytes_.view(offset + header, compressed == 0 ? padded : compressed);
    entry.uncompressed_size = compressed == 0 ? padded : raw;
    if (entry.payload.empty()) corrupt(offset + 8, "entry without payload");
  }

  void read_options(fatbin_entry& entry, std::uint32_t header) const
  {
    auto const pair = bytes_.read<std::uint32_t>(entry.offset + 0x14);
    if (pair == 0) return;
    if (pair > header - 8) corrupt(entry.offset + 0x14, "options outside the entry's header");
    auto const text = bytes_.read<std::uint32_t>(entry.offset + pair);
    auto const length = bytes_.read<std::uint32_t>(entry.offset + pair + 4);
    entry.options =
        header_text(entry.offset, header, text, length, "options", limits::k_options_bytes);
    if (length != 0) entry.stored_options = bytes_.view(entry.offset + text, length);
  }

  [[nodiscard]] std::string header_text(std::uint64_t entry_offset, std::uint32_t header,
                                        std::uint32_t offset, std::uint32_t length,
                                        char const* field, std::uint32_t limit) const
  {
    if (length == 0) return {};
    if (offset > header || length > header - offset)
      corrupt(entry_offset, detail::format("{} outside the entry's header", field));
    if (length > limit)
      exceed(entry_offset,
             detail::format("{} of {} bytes, above {} KiB, the limit", field, length, limit >> 10U),
             "state less in it: nvcc -Xfatbin -ident=TEXT, or fewer options");
    auto text = bytes_.text(entry_offset + offset, length);
    text.erase(text.find_last_not_of(std::string_view("\0 ", 2)) + 1);
    return text;
  }

  detail::byte_reader bytes_;
  std::string name_;
  std::vector<fatbin_entry> entries_;
  std::uint64_t bytes_in_all_ = 0;  ///< of the entries, once decompressed
};

[[noreturn]] void fail_payload(fatbin_entry const& entry, std::string_view name, char const* kind,
                               std::string const& cause)
{
  throw format_error(entry.offset, {.message = detail::format("{}: the {} entry at byte {}: {}",
                                                              name, kind, entry.offset, cause),
                                    .input = std::string(name),
                                    .code = error_code::corrupt_fatbin,
                                    .hint = k_rebuild});
}

/// The payload, decompressed; `kind` is that of the entry in messages.
std::string read_payload(fatbin_entry const& entry, std::string_view name, char const* kind)
{
  if (entry.uncompressed_size > limits::k_entry_bytes)
    fail_payload(entry, name, kind, detail::format("is {}", k_entry_limit));
  auto const size = static_cast<std::size_t>(entry.uncompressed_size);
  std::string error;
  std::string payload;
  if (entry.compression == compression::none)
    payload.assign(reinterpret_cast<char const*>(entry.payload.data()), size);
  else if (entry.compression == compression::zstd)
    payload = detail::decompress_zstd(entry.payload, size, error);
  else
    payload = detail::decompress_lz4(entry.payload, size, error);
  if (!error.empty()) fail_payload(entry, name, kind, error);
  return payload;
}

}  // namespace

std::vector<fatbin_entry> read_fatbin(bytes_view image, std::string_view name)
{
  return reader(image, name).read();
}

std::string read_ptx(fatbin_entry const& entry, std::string_view name)
{
  if (entry.kind != entry_kind::ptx) fail_payload(entry, name, "PTX", "is not PTX");
  auto text = read_payload(entry, name, "PTX");
  text.erase(text.find_last_not_of('\0') + 1);
  return text;
}

byte_buffer read_elf(fatbin_entry const& entry, std::string_view name)
{
  if (entry.kind != entry_kind::elf) fail_payload(entry, name, "elf", "is not an ELF file");
  auto const payload = read_payload(entry, name, "elf");
  auto const* const begin = reinterpret_cast<std::byte const*>(payload.data());
  return {begin, begin + payload.size()};
}

}  // namespace fatlink
