// SPDX-License-Identifier: Apache-2.0
// Decoded device code. An instruction becomes one operation (rarely two), which a warp of 32 lanes
// executes at once: a handler function and the offsets of its operands.
//
// The registers of a frame are arrays of 32 lanes: a register of width w occupies 32·w bytes at its
// offset. Immediates are arrays of the same form in code::constants. An operand is such an offset;
// its top bit selects the constants. A predicate is 32 bits, one for each lane; a predicate operand
// is twice its index, plus 1 if it is negated; index 0 is always false.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "interpreter/decode/code_error.hpp"
#include "ptx/syntax.hpp"

namespace fatlink::interpreter {

namespace syntax = ptx::syntax;

class warp;
struct operation;

using lane_mask = std::uint32_t;  ///< bit i: lane i
constexpr unsigned k_lanes = 32;
constexpr lane_mask k_all_lanes = 0xFFFFFFFF;

/// Executes an operation for the lanes of the mask, which is never 0.
using handler = void (*)(warp&, operation const&, lane_mask);

using operand_offset = std::uint32_t;
constexpr operand_offset k_constant = 0x80000000;
constexpr operand_offset k_no_operand = 0xFFFFFFFF;
constexpr std::uint32_t k_false = 0;  ///< predicate operands
constexpr std::uint32_t k_true = 1;
/// In `flags`: until decoding ends, `immediate` is the index of the target instruction.
constexpr std::uint32_t k_branch = 0x80000000;

struct operation {
  handler run = nullptr;
  std::uint32_t guard = k_true;
  operand_offset d = k_no_operand;  ///< destination
  operand_offset e = k_no_operand;  ///< second destination, fourth source
  operand_offset a = k_no_operand;
  operand_offset b = k_no_operand;
  operand_offset c = k_no_operand;
  std::uint32_t flags = 0;      ///< meaning depends on the handler
  std::uint64_t immediate = 0;  ///< depends on the handler: an offset, a target, an index
  std::uint32_t instruction = 0;
};

/// A parameter or result within a frame's local memory or the kernel's parameters.
struct slot {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};

struct call_site {
  unsigned callee = 0;  ///< index of the function; unused for an indirect call
  std::vector<slot> arguments = {};
  std::vector<slot> results = {};
};

struct instruction_text {
  unsigned line = 0;  ///< in the PTX
  std::string_view text = {};
  syntax::source_location location = {};  ///< in the source code: see location_of()
};

/// `text` on one line, for messages, with one space for blanks in a row: nvcc writes calls on
/// several lines.
inline std::string line_of(std::string_view text)
{
  std::string line;
  for (auto const c : text) {
    auto const is_blank = c == ' ' || (c >= '\t' && c <= '\r');
    if (!is_blank)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  if (line.ends_with(' ')) line.pop_back();
  return line;
}

/// A decoded function. Immutable while kernels run.
struct code {
  std::string name;
  std::string source;  ///< the module's name
  unsigned index = 0;  ///< among linked_modules::functions
  bool is_entry = false;
  syntax::launch_directives launches = {};
  bool uses_heap = false;             ///< it calls malloc or free
  bool is_cooperative = false;        ///< it reads where the barrier of the grid is
  bool uses_reserved_shared = false;  ///< it reads where the reserved shared memory is
  bool is_variadic = false;           ///< the last parameter takes any number of arguments
  std::vector<operation> operations;
  std::vector<instruction_text> instructions;
  std::vector<std::byte> constants;
  std::vector<operand_offset> lists;                      ///< operands of vectors
  std::vector<std::vector<std::uint32_t>> branch_tables;  ///< targets of brx.idx: operations
  std::vector<call_site> calls;
  std::vector<slot> parameters;
  std::vector<slot> results;
  std::uint32_t register_bytes = 0;
  std::uint32_t predicates = 1;
  std::uint32_t local_bytes = 0;      ///< for each lane: parameters, results, local variables
  std::uint32_t parameter_bytes = 0;  ///< of a kernel
  std::vector<unsigned> references;   ///< functions it calls or takes the address of
  std::map<unsigned, std::string> const* files =
      nullptr;  ///< of the module, which outlives the code
};

/// The source line of an instruction of `function`: "wild.cu:7"; empty if it is unknown. Computed
/// on demand, because file names may be long and instructions many.
inline std::string location_of(code const& function, instruction_text const& instruction)
{
  return function.files == nullptr ? std::string()
                                   : location_text(instruction.location, *function.files);
}

/// The place of an instruction for messages: "wild.fatbin:24, wild.cu:7".
inline std::string place_of(code const& function, instruction_text const& instruction)
{
  auto const place = line_in_ptx(function.source, instruction.line);
  auto const location = location_of(function, instruction);
  return location.empty() ? place : place + ", " + location;
}

}  // namespace fatlink::interpreter
