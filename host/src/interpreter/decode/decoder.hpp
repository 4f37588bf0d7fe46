// SPDX-License-Identifier: Apache-2.0
// Decodes functions: from parsed instructions to operations. Unknown instructions are refused here,
// before anything runs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "interpreter/decode/code_error.hpp"
#include "interpreter/decode/link_modules.hpp"
#include "interpreter/decode/operation.hpp"
#include "ptx/syntax.hpp"
#include "util/limits.hpp"

namespace fatlink::interpreter {

using ptx::space;
using ptx::type;

constexpr std::uint32_t k_max_registers = limits::k_register_bytes * k_lanes;  ///< bytes of a warp
constexpr std::uint32_t k_max_constants = 1U << 28;                            ///< bytes

/// Addresses of global and constant variables in the address space.
struct address_map {
  std::vector<std::uint64_t> variables;  ///< by index into linked_modules::variables
  /// Static variables of functions, by function and index in function::variables.
  std::map<std::pair<unsigned, unsigned>, std::uint64_t> inner;
};

/// Where the variables of a kernel are; shared ones from offset 0 of the block's shared memory.
struct placement {
  address_map const* addresses = nullptr;
  shared_layout shared = {};
};

/// @throws code_error (refused, syntax) naming the module and the line.
code decode_function(linked_modules const& modules, unsigned index, placement const& places);

/// The instruction that is being decoded, for the families of instructions below.
class decoding {
 public:
  decoding(linked_modules const& modules, unsigned index, placement const& places, code& result);
  /// @throws code_error (syntax) the parser does not understand the body;
  ///   code_error (refused) a parameter is a reference to a texture.
  void check_function() const;
  void begin();
  void decode(syntax::instruction const& instruction);
  void finish();
  /// Writes results that the body has in registers to where the caller reads them.
  void store_register_results();

  // Modifiers. A modifier that the family does not take is refused.
  /// Takes the modifier `word` if the instruction has it.
  bool take(std::string_view word);
  /// Takes the first remaining modifier; empty if there is none.
  std::string_view take_next();
  /// Takes the last remaining modifier that is a type. Others may follow it: `lg2.approx.f32.ftz`.
  type take_type();
  /// Takes the last type, which must be an integer type of at least `minimum` bytes.
  type take_integer_type(unsigned minimum);
  [[nodiscard]] bool has_words() const noexcept { return !words_.empty(); }
  [[nodiscard]] std::string_view next_word() const noexcept
  {
    return words_.empty() ? std::string_view{} : words_.front();
  }

  [[nodiscard]] std::string_view last_word() const noexcept
  {
    return words_.empty() ? std::string_view{} : words_.back();
  }

  // Operands, by index.
  [[nodiscard]] std::size_t count() const noexcept { return instruction_->operands.size(); }
  [[nodiscard]] syntax::operand const& operand(std::size_t index) const;
  void expect_count(std::size_t minimum, std::size_t maximum) const;
  /// A register, immediate, special register or address, read as `type`.
  operand_offset source(std::size_t index, type type) { return source(operand(index), type); }
  operand_offset source(syntax::operand const& operand, type type);
  /// A register written as `type`; an unused register if the operand is `_`.
  operand_offset destination(std::size_t index, type type)
  {
    return destination(operand(index), type);
  }
  operand_offset destination(syntax::operand const& operand, type type);
  /// A predicate read, negated or not.
  std::uint32_t predicate(std::size_t index);
  std::uint32_t predicate(syntax::operand const& operand);
  std::uint32_t predicate_destination(syntax::operand const& operand);
  /// The value of an integer immediate.
  std::uint64_t integer(std::size_t index) const;
  [[nodiscard]] bool is_register(syntax::operand const& operand) const noexcept
  {
    return operand.kind == syntax::operand_kind::register_;
  }
  [[nodiscard]] unsigned width_of(syntax::operand const& operand) const;
  operand_offset constant(std::uint64_t bits, unsigned width);
  operand_offset new_register(unsigned width);
  unsigned add_list(std::vector<operand_offset> const& operands);
  unsigned label(syntax::operand const& operand) const;
  /// Index into code::branch_tables. @throws code_error (invalid) no .branchtargets of that name.
  unsigned branch_table(std::string_view name);
  /// The place of variable `index` of the function, a .param or .local variable.
  [[nodiscard]] slot slot_of(unsigned index) const;
  /// A place of `bytes` in the frame, for an argument that is not a variable. Other instructions
  /// use it again.
  slot new_slot(unsigned bytes);
  [[nodiscard]] bool is_kernel_parameter(unsigned index) const noexcept;
  [[nodiscard]] syntax::function const& function() const noexcept { return function_; }
  [[nodiscard]] entity const* find(std::string const& name) const;
  [[nodiscard]] linked_modules const& modules() const noexcept { return modules_; }
  code& result() noexcept { return code_; }
  /// The upper 32 bits of the addresses in .local, or of all variables in .const, if these agree.
  [[nodiscard]] std::optional<std::uint64_t> upper_half_of(space space) const;
  /// That of PTX of the module: 63 for 6.3.
  [[nodiscard]] unsigned version() const noexcept { return modules_.modules[module_].version; }
  void refer_to(unsigned function_index);
  /// A predicate that no register of the function names.
  std::uint32_t new_predicate() { return code_.predicates++ * 2; }

  /// Adds an operation with this instruction's guard.
  operation& emit(handler run);
  /// Adds an operation with exactly these operands: the destination, then a, b, c, e.
  operation& emit(handler run, type result, std::initializer_list<type> sources);

  /// Refuses an instruction that other devices may execute: a limit of this device.
  [[noreturn]] void fail_unsupported(std::string const& reason = {}) const;
  /// Refuses a function above a limit; `hint` is the remedy.
  [[noreturn]] void exceed(std::string const& reason, std::string const& hint) const;
  /// Refuses an instruction because this device does not support `feature`.
  [[noreturn]] void refuse_feature(std::string const& feature) const;
  /// Rejects an instruction that no device executes: operands of wrong types or counts.
  [[noreturn]] void reject(std::string const& reason) const;
  /// Rejects a call whose arguments differ from the function's parameters.
  [[noreturn]] void reject_call(std::string const& reason) const;

 private:
  operand_offset register_at(unsigned index);
  void copy_register_parameters(bool are_results);
  std::uint32_t predicate_at(unsigned index);
  void lay_out_variables();
  [[nodiscard]] std::uint64_t bytes_of(unsigned variable) const;
  [[nodiscard]] std::string place() const;
  void reject_part(syntax::operand const& operand) const;
  [[noreturn]] void fail(error_kind kind, std::string const& message,
                         std::string const& hint = {}) const;
  operand_offset special(syntax::operand const& operand, type type);
  operand_offset address(syntax::operand const& operand, type type);
  std::uint64_t immediate(syntax::operand const& operand, type type) const;
  std::uint64_t address_of(entity const& entity);
  [[nodiscard]] std::uint64_t element_offset(syntax::operand const& operand,
                                             entity const& entity) const;

  linked_modules const& modules_;
  unsigned index_;
  unsigned module_;
  syntax::function const& function_;
  placement const& places_;
  code& code_;
  syntax::instruction const* instruction_ = nullptr;
  std::vector<std::string_view> words_;
  std::vector<std::uint32_t> offsets_;        ///< of registers and predicates; 0: not used yet
  std::uint32_t variable_bytes_ = 0;          ///< of the frame's variables
  std::uint32_t next_slot_ = 0;               ///< where new_slot() has room
  std::vector<std::uint32_t> local_offsets_;  ///< of variables
  std::map<std::pair<std::uint64_t, unsigned>, operand_offset> constants_;
  std::set<unsigned> references_;                       ///< functions in code_.references
  std::map<std::string_view, unsigned> branch_tables_;  ///< decoded, by name: index into code_
  std::vector<unsigned> starts_;                        ///< first operation of each instruction
};

using family = void (*)(decoding&);
using decode_table = std::unordered_map<std::string_view, family>;

/// All instructions that the device executes, by name. docs/reference_device.md lists them with
/// their types; a test compares both.
decode_table const& instruction_table();

// The families, each in the source file of its name in instructions/.
void add_integer(decode_table& table);
void add_bits(decode_table& table);
void add_float(decode_table& table);
void add_approximate(decode_table& table);
void add_convert(decode_table& table);
void add_compare(decode_table& table);
void add_move(decode_table& table);
void add_video(decode_table& table);
void add_access(decode_table& table);
void add_addresses(decode_table& table);
void add_atomic(decode_table& table);
void add_mbarrier(decode_table& table);
void add_copies(decode_table& table);
void add_texture_fetches(decode_table& table);
void add_texture_queries(decode_table& table);
void add_surfaces(decode_table& table);
void add_mma(decode_table& table);
void add_wmma(decode_table& table);
void add_matrix_moves(decode_table& table);
void add_control(decode_table& table);
void add_calls(decode_table& table);
void add_barrier(decode_table& table);
void add_collective(decode_table& table);
void add_hints(decode_table& table);

/// The names of all special registers, "%tid.x".
std::vector<std::string> special_registers();
/// Adds an operation that reads the special register `name`, "%tid.x". False: unknown name.
bool emit_special(decoding& d, std::string_view name, operand_offset result, unsigned width);
/// A predicate that the special register `name` sets. k_no_operand: unknown name.
std::uint32_t emit_special_predicate(decoding& d, std::string_view name);
/// Adds an operation that computes the address of a local variable.
void emit_local_address(decoding& d, std::uint64_t offset, operand_offset result, unsigned width);
/// Adds an operation that writes the sum of the register `a` and `addend` to `result`.
void emit_sum(decoding& d, operand_offset a, std::uint64_t addend, operand_offset result,
              unsigned width);
/// Adds an operation that copies a register of type `type` to `place` in the frame, or from there.
void emit_frame_access(decoding& d, bool is_store, type type, operand_offset register_, slot place);
/// As above, of a predicate, which is 0 or 1 in 32 bits there.
void emit_predicate_access(decoding& d, bool is_store, std::uint32_t predicate, slot place);
/// Adds an operation that returns, after the last instruction of a body.
void emit_return(decoding& d);

/// Calls make<T>() with the C++ integer type of `type`; b16 to b64 are unsigned.
template <typename Make>
handler for_integer(decoding const& d, type type, Make const& make)
{
  switch (type) {
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
      d.fail_unsupported();
  }
}

/// Calls make<T>() with the unsigned integer type of `width` bytes.
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
      d.fail_unsupported();
  }
}

// Names of features that the reference device does not support, for messages.

/// The unsupported feature that the instruction `name` ("tex") belongs to; null if unknown.
char const* unsupported_feature(std::string_view name) noexcept;

/// All instructions that belong to an unsupported feature, with the feature.
std::span<std::pair<std::string_view, char const*> const> unsupported_instructions() noexcept;

inline std::string unsupported(std::string_view feature)
{
  return "the reference device does not support " + std::string(feature);
}

}  // namespace fatlink::interpreter
