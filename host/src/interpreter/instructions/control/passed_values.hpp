// SPDX-License-Identifier: Apache-2.0
// What a call passes to a function, and what it gets back.
#pragma once

#include <cstdint>
#include <vector>

#include "interpreter/decode/decoder.hpp"

namespace fatlink::interpreter {

/// A call's arguments or results as places in the frame. A register or a constant gets a place of
/// its own, to which it is copied before the call, or from which it is copied after it.
class passed_values {
 public:
  /// `sizes[i]`: the bytes of value i, for constants and `_`; empty: unknown.
  /// @throws failure (refused) a value of another kind, or a constant of unknown size.
  passed_values(decoding& d, syntax::operand const& list, std::vector<std::uint64_t> const& sizes);

  [[nodiscard]] std::vector<slot> const& slots() const noexcept { return slots_; }
  /// Adds operations that copy registers and constants to their places, or back.
  void copy(bool is_store) const;

 private:
  struct copied_value {
    ptx::type type;
    operand_offset register_;
    slot place;
  };

  slot place_of(syntax::operand const& part, std::uint64_t size);
  slot copied(syntax::operand const& part, ptx::type type);
  slot copied(std::vector<syntax::operand> const& registers);
  [[nodiscard]] ptx::type type_of(syntax::operand const& part) const;
  [[nodiscard]] ptx::type constant_type(syntax::operand const& constant, std::uint64_t size) const;

  decoding& d_;
  std::vector<slot> slots_;
  std::vector<copied_value> copies_;
};

}  // namespace fatlink::interpreter
