// SPDX-License-Identifier: Apache-2.0
#include "fatbin/write_fatbin.hpp"

#include <cstring>
#include <string>

#include "fatbin/layout.hpp"

namespace fatlink::detail {
namespace {

constexpr std::uint32_t k_options_field = 0x40;
constexpr std::uint32_t k_options_text = 0x48;

/// A size that is a multiple of 8.
std::uint64_t pad(std::uint64_t size)
{
  return (size + 7) / 8 * 8;
}

class writer {
 public:
  explicit writer(fatbin_entry const& entry) : entry_(entry) {}

  byte_buffer write(bytes_view payload)
  {
    header_size_ = static_cast<std::uint32_t>(k_options_text + pad(entry_.options.size() + 1));
    payload_size_ = pad(payload.size());
    bytes_.resize(layout::k_container_header + header_size_ + payload_size_);
    write_container();
    write_entry(payload.size());
    copy(k_options_text, entry_.options.data(), entry_.options.size());
    copy(header_size_, payload.data(), payload.size());
    return std::move(bytes_);
  }

 private:
  void write_container()
  {
    put(0x00, layout::k_magic);
    put(0x04, layout::k_version);
    put(0x06, layout::k_container_header);
    put<std::uint64_t>(0x08, header_size_ + payload_size_);
    begin_ = layout::k_container_header;
  }

  void write_entry(std::uint64_t stored_size)
  {
    auto const is_compressed = entry_.compression != compression::none && !is_ptx();
    put(0x00, static_cast<std::uint16_t>(entry_.kind));
    put(0x02, layout::k_entry_version);
    put(0x04, header_size_);
    put(0x08, payload_size_);
    put(0x10, static_cast<std::uint32_t>(is_compressed ? stored_size : 0));
    put(0x14, k_options_field);
    put(0x18, entry_.version_minor);
    put(0x1A, entry_.version_major);
    put<std::uint32_t>(0x1C, entry_.target.number());
    put(0x28, is_ptx() ? entry_.flags & ~layout::k_flags_of_compression : entry_.flags);
    put(0x30, is_ptx() ? 0 : entry_.scramble_key);
    put(0x38, is_compressed ? entry_.uncompressed_size : 0);
    put(k_options_field, k_options_text);
    put(k_options_field + 4, header_size_ - k_options_text);
  }

  [[nodiscard]] bool is_ptx() const { return entry_.kind == entry_kind::ptx; }

  template <typename Number>
  void put(std::uint64_t offset, Number value)
  {
    copy(offset, &value, sizeof value);
  }
  void copy(std::uint64_t offset, void const* source, std::size_t size)
  {
    if (size != 0) std::memcpy(bytes_.data() + begin_ + offset, source, size);
  }

  fatbin_entry const& entry_;
  byte_buffer bytes_;
  std::uint64_t begin_ = 0;  ///< of the header that is written, in bytes_
  std::uint32_t header_size_ = 0;
  std::uint64_t payload_size_ = 0;
};

}  // namespace

byte_buffer write_fatbin(fatbin_entry const& entry, std::string_view name)
{
  if (entry.kind != entry_kind::ptx) return writer(entry).write(entry.payload);
  auto const text = read_ptx(entry, name) + '\0';
  return writer(entry).write(std::as_bytes(std::span(text)));
}

}  // namespace fatlink::detail
