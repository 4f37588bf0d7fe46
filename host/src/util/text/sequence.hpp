// SPDX-License-Identifier: Apache-2.0
// Numbers, texts and bytes one after the other: what the helper's messages and the cache's entries
// are made of. Little-endian, nothing aligned. Reading trusts nothing: each size is checked
// against what is there.
// <text>  ::= u32 bytes, then they, UTF-8 or not   <bytes> ::= u64 size, then they
// <texts> ::= u32 count, at most 4096, then that many
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "fatlink/bytes.hpp"
#include "util/bytes/byte_reader.hpp"

namespace fatlink::detail {

/// What was read is not what it should be.
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
  void raw(void const* from, std::size_t size)
  {
    auto const at = made_.size();
    made_.resize(at + size);
    if (size != 0) std::memcpy(made_.data() + at, from, size);
  }
  void text(std::string const& value);
  void texts(std::vector<std::string> const& values);
  void bytes(bytes_view value);

  [[nodiscard]] bytes_view made() const noexcept { return made_; }
  byte_buffer take() noexcept { return std::move(made_); }

 protected:
  byte_buffer made_;
};

class sequence_reader {
 public:
  /// Every member throws sequence_error where `from` ends too early.
  explicit sequence_reader(bytes_view from) : bytes_(from) {}

  template <typename Number>
  Number number()
  {
    Number value;
    std::memcpy(&value, view(sizeof value).data(), sizeof value);
    return value;
  }
  bytes_view view(std::uint64_t size);
  std::string text();
  /// The same; one of more than `longest` bytes is an error.
  std::string text(std::size_t longest);
  std::uint32_t count();  ///< at most 4096
  std::vector<std::string> texts();
  byte_buffer bytes();
  /// @throws sequence_error bytes are left.
  void expect_end() const;

 private:
  byte_reader bytes_;
  std::uint64_t at_ = 0;
};

}  // namespace fatlink::detail
