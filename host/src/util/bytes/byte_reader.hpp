// SPDX-License-Identifier: Apache-2.0
// Reads untrusted bytes: checks every access against the size.
// Units: bytes; integers little-endian.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

/// An access past the end. Readers translate it into their own error.
struct out_of_bytes {
  std::uint64_t offset;  ///< of the first byte of the access
  std::uint64_t wanted;  ///< size of the access
  std::uint64_t size;    ///< size of all bytes
};

class byte_reader {
 public:
  explicit byte_reader(bytes_view bytes) noexcept : bytes_(bytes) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return bytes_.size(); }

  /// `count` bytes from `offset`. @throws out_of_bytes
  [[nodiscard]] bytes_view view(std::uint64_t offset, std::uint64_t count) const
  {
    if (offset > size() || count > size() - offset) throw out_of_bytes{offset, count, size()};
    return bytes_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(count));
  }

  /// An integer at `offset`. @throws out_of_bytes
  template <typename Integer>
  [[nodiscard]] Integer read(std::uint64_t offset) const
  {
    static_assert(std::is_integral_v<Integer>);
    Integer value;
    std::memcpy(&value, view(offset, sizeof value).data(), sizeof value);
    return value;
  }

  /// `count` bytes from `offset` as text. @throws out_of_bytes
  [[nodiscard]] std::string text(std::uint64_t offset, std::uint64_t count) const
  {
    auto const bytes = view(offset, count);
    return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
  }

 private:
  bytes_view bytes_;
};

}  // namespace fatlink::detail
