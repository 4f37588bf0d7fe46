// SPDX-License-Identifier: Apache-2.0
// Reads the entries of a container, and the PTX of an entry.
// The format: docs/fatbin_format.md.
#include <lz4.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "fatbin/recognize_form.hpp"
#include "fatbin/write_fatbin.hpp"
#include "fatlink/fatbin.hpp"
#include "util/bytes/byte_reader.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

using namespace layout;
constexpr char const* k_rebuild = "build it again, or copy it again in full";
constexpr char const* k_split_fatbin = "split it into several fatbins, each with fewer sources";
constexpr char const* k_entry_limit = "above 256 MiB, the limit for one entry";
static_assert(limits::k_entry_bytes == std::uint64_t{256} << 20);

/// Whether links take entries of the kind: others are listed only.
bool is_linked(entry_kind kind)
{
  return kind == entry_kind::ptx || kind == entry_kind::elf || kind == entry_kind::ltoir;
}

[[noreturn]] void fail_payload(fatbin_entry const& entry, std::string_view name, char const* kind,
                               std::string const& cause,
                               error_code code = error_code::corrupt_fatbin,
                               char const* hint = k_rebuild)
{
  throw format_error(entry.offset, {.message = detail::format("{}: the {} entry at byte {}: {}",
                                                              name, kind, entry.offset, cause),
                                    .input = std::string(name),
                                    .code = code,
                                    .hint = hint});
}

/// Exactly `size` bytes of a zstd frame; empty if it is damaged, with the reason in `error`.
/// @throws std::bad_alloc, also where zstd cannot allocate.
std::string decompress_zstd(bytes_view frame, std::size_t size, std::string& error)
{
  std::string text(size, '\0');
  auto const written = ZSTD_decompress(text.data(), size, frame.data(), frame.size());
  if (ZSTD_getErrorCode(written) == ZSTD_error_memory_allocation) throw std::bad_alloc();
  if (ZSTD_isError(written) != 0) {
    error = detail::format("zstd: {}", ZSTD_getErrorName(written));
    return {};
  }
  if (written == size) return text;
  error = detail::format("zstd: {} bytes instead of {}", written, size);
  return {};
}

/// As above, of a raw LZ4 block.
std::string decompress_lz4(bytes_view block, std::size_t size, std::string& error)
{
  constexpr std::size_t k_most = std::numeric_limits<int>::max();
  if (block.size() > k_most || size > k_most) {
    error = "lz4: block too large";
    return {};
  }
  std::string text(size, '\0');
  auto const written = LZ4_decompress_safe(reinterpret_cast<char const*>(block.data()), text.data(),
                                           static_cast<int>(block.size()), static_cast<int>(size));
  if (written >= 0 && static_cast<std::size_t>(written) == size) return text;
  error = written < 0 ? "lz4: damaged block"
                      : detail::format("lz4: {} bytes instead of {}", written, size);
  return {};
}

/// The payload, decompressed; `kind` is that of the entry in messages.
std::string decompressed(fatbin_entry const& entry, std::string_view name, char const* kind)
{
  if (entry.uncompressed_size > limits::k_entry_bytes)
    fail_payload(entry, name, kind, detail::format("is {}", k_entry_limit));
  auto const size = static_cast<std::size_t>(entry.uncompressed_size);
  std::string error;
  std::string payload;
  if (entry.compression == compression::none)
    payload.assign(reinterpret_cast<char const*>(entry.payload.data()), size);
  else if (entry.compression == compression::zstd)
    payload = decompress_zstd(entry.payload, size, error);
  else if (entry.compression == compression::lz4)
    payload = decompress_lz4(entry.payload, size, error);
  else
    fail_payload(entry, name, kind, "is compressed in a way that this fatlink does not know",
                 error_code::newer_format,
                 "use a newer fatlink, or compile it with -Xfatbin --compress-mode=none");
  if (!error.empty()) fail_payload(entry, name, kind, error);
  return payload;
}

class reader {
 public:
  reader(bytes_view image, std::string_view name) : bytes_(image), name_(name) {}

  std::vector<fatbin_entry> read()
  try {
    if (bytes_.size() == 0) fail_fatbin(error_code::empty_input, 0, "the file is empty");
    if (bytes_.size() < 4 || bytes_.read<std::uint32_t>(0) != k_magic) fail_other_form();
    for (std::uint64_t offset = 0; offset < bytes_.size();) offset = read_container(offset);
    if (entries_.empty()) fail_fatbin(error_code::corrupt_fatbin, 0, "holds no entries");
    return std::move(entries_);
  } catch (detail::out_of_bytes const& end) {
    corrupt(end.offset,
            detail::format("truncated: {} bytes are needed here, the file has {} in all",
                           end.wanted, end.size));
  }

 private:
  [[noreturn]] void fail_fatbin(error_code code, std::uint64_t offset, std::string const& cause,
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
    fail_fatbin(error_code::not_a_fatbin, 0, "not a fatbin but " + form.description, form.remedy);
  }
  [[noreturn]] void corrupt(std::uint64_t offset, std::string const& cause) const
  {
    fail_fatbin(error_code::corrupt_fatbin, offset, cause);
  }

  [[noreturn]] void exceed(std::uint64_t offset, std::string const& excess,
                           std::string const& hint) const
  {
    fail_fatbin(error_code::above_limit, offset, excess, hint);
  }

  /// What follows cannot be read.
  [[noreturn]] void fail_newer(std::uint64_t offset, std::string const& what) const
  {
    fail_fatbin(error_code::newer_format, offset, what + ", which this fatlink does not know",
                "use a newer fatlink, or make it with an older toolkit");
  }

  void check_version(std::uint64_t entry) const
  {
    if (auto const version = bytes_.read<std::uint16_t>(entry + 2); version != k_entry_version)
      fail_newer(entry + 2, detail::format("entry version {:#x}", version));
  }

  /// Returns the offset after the container.
  std::uint64_t read_container(std::uint64_t offset)
  {
    if (bytes_.read<std::uint32_t>(offset) != k_magic)
      corrupt(offset, "bytes after the last container");
    if (auto const version = bytes_.read<std::uint16_t>(offset + 4); version != k_version)
      fail_newer(offset + 4, detail::format("container version {}", version));
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
    check_version(offset);
    if (header > end - offset) corrupt(offset + 4, "entry header past the container's end");
    auto const padded = bytes_.read<std::uint64_t>(offset + 0x08);
    if (padded > end - offset - header)
      corrupt(offset + 8, "entry payload past the container's end");
    if (bytes_.read<std::uint16_t>(offset) == k_concatenated)
      read_concatenated(offset, header, padded);
    else
      add(read_fields(offset, header, padded));
    return offset + header + padded;
  }

  void add(fatbin_entry entry)
  {
    if (entries_.size() == limits::k_entries)
      exceed(entry.offset,
             detail::format("holds more than {} entries, the limit", limits::k_entries),
             k_split_fatbin);
    entries_.push_back(std::move(entry));
  }

  fatbin_entry read_fields(std::uint64_t offset, std::uint32_t header, std::uint64_t padded)
  {
    auto entry = read_identity(offset);
    read_payload(entry, offset, header, padded);
    count_bytes(entry);
    read_texts(entry, header);
    return entry;
  }

  /// What the header at `offset` states, but the payload and the texts.
  fatbin_entry read_identity(std::uint64_t offset) const
  {
    fatbin_entry entry;
    entry.kind = static_cast<entry_kind>(bytes_.read<std::uint16_t>(offset));
    entry.flags = bytes_.read<std::uint64_t>(offset + 0x28);
    entry.target = target_of(entry, offset);
    entry.version_minor = bytes_.read<std::uint16_t>(offset + 0x18);
    entry.version_major = bytes_.read<std::uint16_t>(offset + 0x1A);
    if (entry.kind == entry_kind::tileir) {  // a byte each: 0x0D01 is 13.1
      entry.version_minor = entry.version_major & 0xFFU;
      entry.version_major >>= 8U;
    }
    entry.scramble_key = bytes_.read<std::uint64_t>(offset + 0x30);
    entry.offset = offset;
    return entry;
  }

  void read_texts(fatbin_entry& entry, std::uint32_t header) const
  {
    read_options(entry, header);
    entry.ident_text = header_text(
        entry.offset, header, bytes_.read<std::uint32_t>(entry.offset + 0x20),
        bytes_.read<std::uint32_t>(entry.offset + 0x24), "ident", limits::k_ident_bytes);
  }

  /// Several entries whose payloads are compressed as one: their headers, with the place of each
  /// payload, are where another entry has its options.
  void read_concatenated(std::uint64_t offset, std::uint32_t header, std::uint64_t padded)
  {
    auto const field = bytes_.read<std::uint32_t>(offset + 0x14);
    if (field < k_least_entry_header || field > header - 8)
      corrupt(offset + 0x14, "concatenated entries without their headers");
    auto const count = bytes_.read<std::uint32_t>(offset + field);
    auto const size = bytes_.read<std::uint32_t>(offset + field + 4);
    if (size < 8 || size > header - field)
      corrupt(offset + field + 4, "headers of concatenated entries past that of their entry");
    auto const payloads = read_payloads(offset, header, padded);
    if (!payloads) return;
    uncounted_bytes_ = payloads->size();
    auto const end = offset + field + size;
    auto next = offset + field + 8;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (end - next < k_least_entry_header)
        corrupt(next, detail::format("{} concatenated entries, but {} headers", count, i));
      next = read_part(next, end, payloads);
    }
    if (next != end) corrupt(next, "bytes after the headers of concatenated entries");
  }

  /// The payloads of the concatenated entries at `offset`; null where only their headers can be
  /// read: then they are listed as one entry.
  std::shared_ptr<std::string const> read_payloads(std::uint64_t offset, std::uint32_t header,
                                                   std::uint64_t padded)
  {
    auto whole = read_identity(offset);
    read_payload(whole, offset, header, padded);
    count_bytes(whole);
    if (whole.compression == compression::unknown) return add(whole), nullptr;
    return std::make_shared<std::string const>(decompressed(whole, name_, "concatenated"));
  }

  /// Reads the header of a concatenated entry, of which `end` is the most; returns the offset after
  /// it. Its size is not stated: texts end it.
  std::uint64_t read_part(std::uint64_t offset, std::uint64_t end,
                          std::shared_ptr<std::string const> const& payloads)
  {
    check_version(offset);
    auto const most = static_cast<std::uint32_t>(end - offset);
    auto entry = read_identity(offset);
    auto const begin = bytes_.read<std::uint32_t>(offset + 0x04);
    auto const size = bytes_.read<std::uint64_t>(offset + 0x08);
    if (begin > payloads->size() || size > payloads->size() - begin)
      corrupt(offset + 0x04, "a concatenated payload outside those of its entry");
    entry.decompressed = payloads;
    entry.payload = std::as_bytes(std::span(*payloads)).subspan(begin, size);
    entry.uncompressed_size = size;
    if (entry.payload.empty()) corrupt(offset + 8, "entry without payload");
    auto const counted = std::min(size, uncounted_bytes_);  // with those of all payloads
    uncounted_bytes_ -= counted;
    add_bytes(offset, size - counted);
    read_texts(entry, most);
    auto const length = header_length(offset, most);
    add(std::move(entry));
    return offset + length;
  }

  /// The bytes of a header whose texts were read: each has a NUL, and is padded to 8 bytes.
  [[nodiscard]] std::uint32_t header_length(std::uint64_t offset, std::uint32_t most) const
  {
    std::uint64_t length = k_least_entry_header;
    auto const end_at = [&](std::uint64_t begin, std::uint64_t size) {
      length = std::max(length, begin + (size + 8) / 8 * 8);
    };
    auto const ident = bytes_.read<std::uint32_t>(offset + 0x24);
    if (ident != 0) end_at(bytes_.read<std::uint32_t>(offset + 0x20), ident);
    if (auto const field = bytes_.read<std::uint32_t>(offset + 0x14); field != 0)
      end_at(bytes_.read<std::uint32_t>(offset + field),
             bytes_.read<std::uint32_t>(offset + field + 4));
    if (length > most || length % 8 != 0)
      corrupt(offset, "the header of a concatenated entry past those of all");
    return static_cast<std::uint32_t>(length);
  }

  void count_bytes(fatbin_entry const& entry)
  {
    if (entry.uncompressed_size > limits::k_entry_bytes)
      exceed(entry.offset,
             detail::format("an entry of {} MiB once decompressed, {}",
                            entry.uncompressed_size >> 20U, k_entry_limit),
             k_split_fatbin);
    add_bytes(entry.offset, entry.uncompressed_size);
  }

  void add_bytes(std::uint64_t offset, std::uint64_t count)
  {
    bytes_in_all_ += count;
    if (bytes_in_all_ > limits::k_fatbin_bytes)
      exceed(offset, "its entries are above 1 GiB once decompressed, the limit for a fatbin",
             k_split_fatbin);
  }

  /// An entry of another kind may state none, as Tile IR does.
  [[nodiscard]] target target_of(fatbin_entry const& entry, std::uint64_t offset) const
  {
    auto const number = bytes_.read<std::uint32_t>(offset + 0x1C);
    if (is_linked(entry.kind) && (number < 10 || number > 999))
      corrupt(offset + 0x1C, detail::format("architecture {}", number));
    auto const suffix = (entry.flags & k_flag_arch_specific) != 0     ? 'a'
                        : (entry.flags & k_flag_family_specific) != 0 ? 'f'
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
    entry.compression = compressed == 0 ? compression::none
                        : is_zstd       ? compression::zstd
                        : is_lz4        ? compression::lz4
                                        : compression::unknown;
    entry.payload = bytes_.view(offset + header, compressed == 0 ? padded : compressed);
    entry.uncompressed_size = compressed == 0 ? padded : raw;
    if (entry.payload.empty() && is_linked(entry.kind))
      corrupt(offset + 8, "entry without payload");
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
  /// Of concatenated payloads, which may overlap: those that no header has named yet.
  std::uint64_t uncounted_bytes_ = 0;
};

}  // namespace

std::vector<fatbin_entry> read_fatbin(bytes_view image, std::string_view name)
{
  return reader(image, name).read();
}

std::string read_ptx(fatbin_entry const& entry, std::string_view name)
{
  if (entry.kind != entry_kind::ptx) fail_payload(entry, name, "PTX", "is not PTX");
  auto text = decompressed(entry, name, "PTX");
  text.erase(text.find_last_not_of('\0') + 1);
  return text;
}

byte_buffer read_elf(fatbin_entry const& entry, std::string_view name)
{
  if (entry.kind != entry_kind::elf) fail_payload(entry, name, "elf", "is not an ELF file");
  auto const payload = decompressed(entry, name, "elf");
  auto const* const begin = reinterpret_cast<std::byte const*>(payload.data());
  return {begin, begin + payload.size()};
}

}  // namespace fatlink
