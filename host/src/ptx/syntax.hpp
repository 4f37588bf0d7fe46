// SPDX-License-Identifier: Apache-2.0
// A parsed PTX module, with the fundamental types and state spaces. Names within functions are
// resolved; instructions are still words. Values own their strings, except those of instructions,
// which point into module::text. Source: PTX ISA 9.0, "State Spaces, Types, and Variables".
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fatlink::ptx {

enum class type : std::uint8_t {
  pred,
  b128,
  b8,
  b16,
  b32,
  b64,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  f32,
  f64,
  f32x2,
};

/// "f32" → type::f32; nullopt for any other word.
std::optional<type> parse_type(std::string_view word) noexcept;
/// Size in bytes; 0 for pred.
unsigned size_of(type type) noexcept;
bool is_signed(type type) noexcept;
/// f16 to f64, including packed types.
bool is_float(type type) noexcept;
/// u8 to s64, and the untyped b8 to b64, not b128.
bool is_integer(type type) noexcept;

enum class space : std::uint8_t { generic, global, constant, shared, local, param };

/// "global" → space::global, "const" → space::constant; nullopt for any other word.
std::optional<space> parse_space(std::string_view word) noexcept;

}  // namespace fatlink::ptx

namespace fatlink::ptx::syntax {

enum class linkage : std::uint8_t { local, visible, external, weak, common };

/// One element of an initialiser: a number's bits, or a symbol's address plus an offset. Of the
/// address only the bits of `mask` are taken, moved to bit 0: `0xFF00(symbol)`.
struct initial_value {
  std::uint64_t bits = 0;
  std::string symbol = {};  ///< empty: a number
  std::int64_t addend = 0;
  std::uint64_t mask = ~std::uint64_t{0};  ///< never 0
  int variable =
      -1;  ///< of the function that holds the initialiser: an index; -1: `symbol` is of the module
};

/// A line of source code: `file` is a key of module::files. Line 0: unknown.
struct source_position {
  unsigned file = 0;
  unsigned line = 0;
};

/// The source location that `.loc` gives to the instructions that follow it.
struct source_location {
  source_position position = {};
  source_position inlined_at = {};  ///< the call, if the code was inlined
};

/// A variable or a parameter of `count` elements. 0 is an array of unknown size; such a last
/// parameter of a function takes any number of arguments.
struct variable {
  std::string name = {};
  ptx::space space = ptx::space::global;
  ptx::type type = ptx::type::b32;
  unsigned align = 0;  ///< bytes, never 0 once parsed
  std::uint64_t count = 1;
  syntax::linkage linkage = syntax::linkage::local;
  bool in_register = false;   ///< a parameter or result that is declared with .reg
  bool is_predicate = false;  ///< of these, a predicate: passed as .b32
  /// A .texref, .samplerref or .surfref: an object that the host program binds.
  bool is_reference = false;
  std::vector<initial_value> initial = {};
  unsigned line = 0;

  [[nodiscard]] std::uint64_t bytes() const noexcept { return count * size_of(type); }
  /// For a parameter: it takes any number of arguments (`%VAParam[]`).
  [[nodiscard]] bool is_variadic() const noexcept { return count == 0; }
};

enum class operand_kind : std::uint8_t {
  /// `index` into function::registers, plus `offset`; `negated` for !%p, `minus` for -%r
  register_,
  integer,   ///< `bits`
  real32,    ///< `bits` of a float
  real64,    ///< `bits` of a double
  special,   ///< `name`: "%tid.x"
  variable,  ///< `index` into function::variables, plus `offset`
  symbol,    ///< `name` at module scope, plus `offset`
  label,     ///< `index` into function::instructions
  address,   ///< [parts[0] + offset]; no parts: an absolute address
  texel,     ///< [texture, coordinates]
  vector,    ///< {parts}
  list,      ///< (parts), of a call
  pair,      ///< parts[0] | parts[1]
  sink,      ///< _
};

struct operand {
  operand_kind kind = operand_kind::sink;
  bool negated = false;
  unsigned index = 0;
  std::uint64_t bits = 0;
  std::int64_t offset = 0;
  bool is_element = false;   ///< written `symbol[3]`
  std::int64_t element = 0;  ///< the 3, if the size of elements is not known yet: of a symbol
  std::string name = {};
  std::vector<operand> parts = {};
  std::string selector = {};  ///< "b0" of the video operand %r1.b0
  bool minus = false;         ///< of the operands of vmad
};

struct instruction {
  std::string_view text = {};  ///< from the guard up to the semicolon
  unsigned line = 0;
  source_location location = {};
  std::string_view name = {};                    ///< "add"
  std::vector<std::string_view> modifiers = {};  ///< "rn", "f32": without dots
  int guard = -1;                                ///< index into function::registers
  bool guard_negated = false;
  std::vector<operand> operands = {};
};

struct register_ {
  std::string name = {};
  ptx::type type = ptx::type::b32;
};

/// A parameter or result that the body has in a register.
struct register_parameter {
  unsigned variable = 0;   ///< index into function::variables
  unsigned register_ = 0;  ///< index into function::registers
};

/// A statement that the parser does not understand.
struct body_error {
  unsigned line = 0;
  std::string statement = {};
  std::string reason = {};  ///< empty: no error
};

/// A `.branchtargets` table.
struct branch_targets {
  std::string name = {};
  std::vector<operand> labels = {};
};

/// A size in three dimensions; all 0: not stated.
struct stated_size {
  std::array<std::uint64_t, 3> extent = {};
  [[nodiscard]] std::uint64_t count() const noexcept { return extent[0] * extent[1] * extent[2]; }
};

/// What the directives of a kernel state about its launches.
struct launch_directives {
  stated_size max_block = {};       ///< .maxntid: at most so many threads, by their product
  stated_size required_block = {};  ///< .reqntid: exactly this block
  stated_size cluster = {};         ///< .reqnctapercluster: blocks
  bool explicit_cluster = false;    ///< .explicitcluster: only launched with clusters
};

struct function {
  std::string name;
  bool is_entry = false;
  bool has_body = false;
  syntax::linkage linkage = syntax::linkage::local;
  std::vector<variable> results;
  std::vector<variable> parameters;
  unsigned line = 0;
  launch_directives launches = {};
  // The body. `variables` begins with the results, then the parameters.
  std::vector<variable> variables;
  std::vector<register_> registers;
  std::vector<instruction> instructions;
  std::vector<branch_targets> tables;
  std::vector<std::string> prototypes;
  std::vector<register_parameter> register_parameters;
  body_error error = {};  ///< if it has a reason, the function has no instructions
};

/// Whether `function` takes any number of arguments after its named ones.
inline bool is_variadic(function const& function) noexcept
{
  return !function.is_entry && !function.parameters.empty() &&
         function.parameters.back().is_variadic();
}

/// `.alias name, target;`: another name of a function of the module.
struct function_alias {
  std::string name = {};
  std::string target = {};
  unsigned line = 0;
};

struct module {
  std::string name;                         ///< for messages
  unsigned version = 0;                     ///< 63 for PTX ISA 6.3
  std::shared_ptr<std::string const> text;  ///< instruction::text points into it
  std::map<unsigned, std::string> files;    ///< source files, by their number in `.file`
  std::vector<variable> variables;
  std::vector<function> functions;
  std::vector<function_alias> aliases;
};

/// "wild.cu:7", "wild.cuh:5, inlined at wild.cu:11"; empty if unknown.
std::string location_text(source_location const& location,
                          std::map<unsigned, std::string> const& files);

}  // namespace fatlink::ptx::syntax
