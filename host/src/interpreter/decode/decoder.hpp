// SPDX-License-Identifier: Apache-2.0
// Decodes functions: from words to operations. What is not known is refused here, before
// anything runs.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "interpreter/decode/failure.hpp"
#include "interpreter/decode/link_modules.hpp"
#include "interpreter/decode/operation.hpp"
#include "ptx/syntax.hpp"
#include "ptx/types.hpp"

namespace fatlink::interpreter {

using ptx::space;
using ptx::type;

/// Where variables lie: global and constant ones in the address space, shared ones from the
/// block's offset 0 on.
struct address_map {
  std::vector<std::uint64_t> variables;  ///< by index into linked_modules::variables
  /// Variables within bodies, by function and index into function::variables.
  std::map<std::pair<unsigned, unsigned>, std::uint64_t> inner;
  std::uint64_t dynamic_shared = 0;
};

/// @throws failure (refused, syntax) naming the module and the line.
code decode_function(linked_modules const& modules, unsigned index, address_map const& addresses);

/// One instruction being decoded; what the families of instructions below work with.
class decoding {
 public:
  decoding(linked_modules const& modules, unsigned index, address_map const& addresses, code& to);
  void decode(syntax::instruction const& next);
  void finish();

  // Modifiers. A word that nobody takes is refused.
  /// Takes `word` if it is there.
  bool take(std::string_view word);
  /// Takes the first word left; empty when none is.
  std::string_view take_next();
  /// Takes the last word left, which must be a type.
  type take_type();
  [[nodiscard]] bool has_words() const noexcept { return !words_.empty(); }
  [[nodiscard]] std::string_view next_word() const noexcept
  {
    return words_.empty() ? std::string_view{} : words_.front();
  }

  // Operands, by index.
  [[nodiscard]] std::size_t count() const noexcept { return at_->operands.size(); }
  [[nodiscard]] syntax::operand const& operand(std::size_t index) const;
  void expect_count(std::size_t least, std::size_t most) const;
  /// A register, immediate, special register or address, read as `as`.
  operand_offset source(std::size_t index, type as) { return source(operand(index), as); }
  operand_offset source(syntax::operand const& from, type as);
  /// A register written as `as`; a register for nobody where the operand is `_`.
  operand_offset destination(std::size_t index, type as) { return destination(operand(index), as); }
  operand_offset destination(syntax::operand const& from, type as);
  /// A predicate read, negated or not.
  std::uint32_t predicate(std::size_t index);
  std::uint32_t predicate(syntax::operand const& from);
  std::uint32_t predicate_destination(syntax::operand const& from);
  /// A whole number known now.
  std::uint64_t integer(std::size_t index) const;
  [[nodiscard]] bool is_register(syntax::operand const& from) const noexcept
  {
    return from.kind == syntax::operand_kind::register_;
  }
  [[nodiscard]] unsigned width_of(syntax::operand const& from) const;
  operand_offset constant(std::uint64_t bits, unsigned width);
  operand_offset new_register(unsigned width);
  unsigned add_list(std::vector<operand_offset> const& operands);
  unsigned label(syntax::operand const& from) const;
  /// Index into code::branch_tables. @throws failure (invalid) no .branchtargets of that name.
  unsigned branch_table(std::string_view name);
  /// Where variable `index` of the function, a .param or .local one, lies.
  [[nodiscard]] slot slot_of(unsigned index) const;
  [[nodiscard]] bool is_kernel_parameter(unsigned index) const noexcept;
  [[nodiscard]] syntax::function const& function() const noexcept { return function_; }
  [[nodiscard]] entity const* find(std::string const& name) const;
  [[nodiscard]] linked_modules const& modules() const noexcept { return modules_; }
  code& made() noexcept { return code_; }
  void refer_to(unsigned function_index);

  /// Adds an operation with this instruction's guard.
  operation& emit(handler run);
  /// The common form, of exactly these operands: the destination, then a, b, c, e.
  operation& emit(handler run, type result, std::initializer_list<type> sources);

  /// A limit of this device: other devices may execute the instruction.
  [[noreturn]] void refuse(std::string const& why = {}) const;
  /// A feature that this device does not support.
  [[noreturn]] void refuse_feature(std::string const& feature) const;
  /// Operands of wrong types or counts: no device executes the instruction.
  [[noreturn]] void reject(std::string const& why) const;
  /// A call whose arguments differ from the function's parameters.
  [[noreturn]] void reject_call(std::string const& why) const;

 private:
  operand_offset register_at(unsigned index);
  std::uint32_t predicate_at(unsigned index);
  void lay_out_variables();
  [[nodiscard]] std::uint64_t bytes_of(unsigned variable) const;
  [[nodiscard]] std::string place() const;
  [[noreturn]] void fail(fault kind, std::string const& message) const;
  operand_offset special(syntax::operand const& from, type as);
  operand_offset address(syntax::operand const& from, type as);
  std::uint64_t immediate(syntax::operand const& from, type as) const;
  std::uint64_t address_of(entity const& what);

  linked_modules const& modules_;
  unsigned index_;
  unsigned module_;
  syntax::function const& function_;
  address_map const& addresses_;
  code& code_;
  syntax::instruction const* at_ = nullptr;
  std::vector<std::string_view> words_;
  std::vector<std::uint32_t> offsets_;        ///< of registers and predicates; 0: not yet used
  std::vector<std::uint32_t> local_offsets_;  ///< of variables
  std::map<std::pair<std::uint64_t, unsigned>, operand_offset> constants_;
  std::set<unsigned> references_;                       ///< functions in code_.references
  std::map<std::string_view, unsigned> branch_tables_;  ///< decoded, by name: index into code_
  std::vector<unsigned> starts_;                        ///< the first operation of each instruction
};

using family = void (*)(decoding&);
using decode_table = std::unordered_map<std::string_view, family>;

// The families, each in the source of its name.
void add_integer(decode_table& to);
void add_bits(decode_table& to);
void add_logic(decode_table& to);
void add_float(decode_table& to);
void add_approximate(decode_table& to);
void add_convert(decode_table& to);
void add_compare(decode_table& to);
void add_select(decode_table& to);
void add_move(decode_table& to);
void add_access(decode_table& to);
void add_address(decode_table& to);
void add_atomic(decode_table& to);
void add_control(decode_table& to);
void add_barrier(decode_table& to);
void add_shuffle(decode_table& to);
void add_vote(decode_table& to);

/// "%tid.x" and its like: adds an operation that reads it. False: not known.
bool emit_special(decoding& d, std::string_view name, operand_offset to, unsigned width);
/// Adds an operation that computes a local variable's address.
void emit_local_address(decoding& d, std::uint64_t offset, operand_offset to, unsigned width);
/// Adds an operation that ends a function, for a body that does not end in one.
void emit_return(decoding& d);

// add, sub, … are integer or floating-point by their type: the integer family decides.
void decode_float_arithmetic(decoding& d, std::string_view name, type as);
void decode_half_arithmetic(decoding& d, std::string_view name, type as);

/// Calls make<T>() with the C++ type that `as` computes in. Untyped ones are unsigned.
template <typename Make>
handler for_integer(decoding const& d, type as, Make const& make)
{
  switch (as) {
    case type::b16:
    case type::u16:
      return make.template operator()<std::uint16_t>();
    case type::s16:
      return make.template operator()<std::int16_t>();
    case type::b32:
    case type::u32:
      return make.template operator()<std::uint32_t>();
    case type::s32:
      return make.template operator()<std::int32_t>();
    case type::b64:
    case type::u64:
      return make.template operator()<std::uint64_t>();
    case type::s64:
      return make.template operator()<std::int64_t>();
    default:
      d.refuse();
  }
}

/// As for_integer, by width alone.
template <typename Make>
handler for_bits(decoding const& d, unsigned width, Make const& make)
{
  switch (width) {
    case 2:
      return make.template operator()<std::uint16_t>();
    case 4:
      return make.template operator()<std::uint32_t>();
    case 8:
      return make.template operator()<std::uint64_t>();
    default:
      d.refuse();
  }
}

}  // namespace fatlink::interpreter
