// SPDX-License-Identifier: Apache-2.0
// Serialises numbers, texts and bytes, for the helper's messages and the cache's entries.
// Little-endian, unaligned. The reader trusts nothing: it checks each size against the bytes left.
// <text>  ::= u32 size, that many bytes of any encoding   <bytes> ::= u64 size, that many bytes
// <texts> ::= u32 count, at most 4096, that many <text>     <long text> as <bytes>
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/bytes.hpp"
#include "util/bytes/byte_reader.hpp"

namespace fatlink::detail {

/// The bytes are malformed.
struct sequence_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class sequence_writer {
 public:
  template <typename Number>
  void number(Number value)
  {
    raw(&value, sizeof value);
  }
  void raw(void const* data, std::size_t size)
  {
    auto const offset = made_.size();
    made_.resize(offset + size);
    if (size != 0) std::memcpy(made_.data() + offset, data, size);
  }
  void text(std::string const& value);
  void long_text(std::string_view value);
  void texts(std::vector<std::string> const& values);
  void bytes(bytes_view value);

  [[nodiscard]] bytes_view made() const noexcept { return made_; }
  byte_buffer take() noexcept { return std::move(made_); }

 protected:
  byte_buffer made_;
};

class sequence_reader {
 public:
  /// Every member throws sequence_error if the bytes end too early.
  explicit sequence_reader(bytes_view bytes) : bytes_(bytes) {}

  template <typename Number>
  Number number()
  {
    Number value;
    std::memcpy(&value, view(sizeof value).data(), sizeof value);
    return value;
  }
  bytes_view view(std::uint64_t size);
  std::string text();
  /// As text(); more than `longest` bytes are an error.
  std::string text(std::size_t longest);
  std::string long_text();
  std::uint32_t count();  ///< at most 4096
  /// A count of elements of at least `least_bytes` each, for which there are enough bytes.
  std::uint32_t count_of(std::size_t least_bytes);
  std::vector<std::string> texts();
  byte_buffer bytes();
  /// @throws sequence_error there are bytes after the end.
  void expect_end() const;

 private:
  byte_reader bytes_;
  std::uint64_t at_ = 0;
};

}  // namespace fatlink::detail
