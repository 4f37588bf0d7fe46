// SPDX-License-Identifier: Apache-2.0
// The launch plan of a library: its arguments, its launches and what they compute. The plan is part
// of the sidecar (the .json beside the fatbin). With a plan, a host can run the kernels of a
// library without code for that library. docs/launch_plans.md describes the format.
//
// Threads: launch_plan is a value type; objects share no state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/element_type.hpp"
#include "fatlink/error.hpp"
#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

class input;  // input.hpp

/// What a caller gives for an argument.
enum class argument_role : std::uint8_t {
  input,    ///< a device array that the launches read
  output,   ///< a device array that the launches write
  scratch,  ///< a device array that only the launches use
  size,     ///< an integer that formulas for extents and grids use
  value,    ///< a number or a struct, passed by value
  state,    ///< user data for the transform's hooks, a device array; null if there is none
};
/// "input", "output", "scratch", "size", "value", "state".
char const* to_string(argument_role role) noexcept;

/// An integer expression over sizes, `let` names and facts about the device: "ceil(n / 256)". It is
/// kept as text, because its meaning depends on the names in its plan.
using formula_text = std::string;

/// One argument of a plan.
struct plan_argument {
  std::string name = {};                      ///< an identifier, unique in the plan
  argument_role role = argument_role::input;  ///< what a caller passes for it
  /// The type of the elements of an array, of the size, or of the value. Empty for the type
  /// "element", which the transform binds, and for a state.
  std::optional<element_type> type = {};
  /// For plans with several hooks: the hook whose transform binds the type "element", or the hook
  /// that reads this state. Empty: all transforms must bind the same type; a state is that of the
  /// first transform that declares one.
  std::string hook = {};
  /// Of an array: its extents, slowest first; a one-dimensional array has one. Empty for sizes,
  /// values and the state.
  std::vector<formula_text> shape = {};
  /// Of an output: how many of its elements are results. The formula may use sizes and outputs that
  /// hold a single integer: "count". Empty: all.
  formula_text length = {};
  /// Of a size: its largest value. The formula may use sizes: "n". Empty: 2^63 - 1.
  formula_text maximum = {};
  /// Of a size: an input of one uint64 that may be omitted. The kernels take the number in it
  /// instead of the size if it is less. Empty: none.
  std::string limit = {};
  /// Of an array or a state: the alignment of its address in bytes, a power of two up to 4,096, if
  /// it exceeds the type's alignment. 0: the type's alignment.
  std::size_t alignment = 0;
  /// Of an output: arguments that may be the same array.
  std::vector<std::string> may_overlap = {};
  /// Of a value or size: the default, as JSON text: "0", "1.5". Of an input: "null" if it may be
  /// omitted, the kernels then get a null pointer.
  std::optional<std::string> default_value = {};
};

/// A name that stands for a formula.
struct plan_let {
  std::string name = {};      ///< an identifier
  formula_text formula = {};  ///< uses sizes, facts about the device and other lets
};

/// What a launch passes for one parameter of its kernel.
struct launch_argument {
  std::string argument = {};  ///< the name of an argument; empty: `formula` is passed
  formula_text formula = {};  ///< an integer
  element_type type = {};     ///< type of the formula's value; unused with `argument`
};

/// One launch of a kernel.
struct plan_launch {
  std::string kernel = {};                              ///< its name, as in the PTX
  std::array<formula_text, 3> grid = {"1", "1", "1"};   ///< blocks
  std::array<formula_text, 3> block = {"1", "1", "1"};  ///< threads
  formula_text shared_bytes = "0";                      ///< dynamic shared memory of a block
  /// Whether the blocks of this launch may start while the previous launch is still running
  /// (programmatic dependent launch). The kernel must execute griddepcontrol.wait before it
  /// accesses memory that the previous launch writes. If `overlap` is set for the first launch of a
  /// plan, the blocks of that launch may start while work that was queued earlier on the stream is
  /// still running. In this case, every kernel with `overlap` must wait before it accesses any
  /// memory.
  bool overlap = false;
  std::vector<launch_argument> arguments = {};  ///< in the order of the parameters
};

/// The operations by which a plan describes its outputs, for verification.
enum class operation : std::uint8_t {
  argument,        ///< an array or a value of the plan: `name`
  index,           ///< the index of the element, from 0
  neighbor,        ///< element i + `offset` of operand 0, clamped to the valid range
  map,             ///< hook `name` of the operands, element by element
  fold,            ///< hook `name` over all elements of operand 0, starting with operand 1
  scan,            ///< inclusive: element i is the fold of elements 0 to i of operand 0
  exclusive_scan,  ///< element i is the fold of elements 0 to i - 1 of operand 0, from operand 1
  filter,          ///< the elements of operand 0 for which hook `name` is true, in order
  rejected,        ///< the elements for which it is false, in order
  count,           ///< for how many elements of operand 0 hook `name` is true
  segmented_fold,  ///< operands: elements, offsets of the segments, initial value
  sort,            ///< operand 0, sorted stably by hook `name`; with two operands: operand 1,
                   ///< moved together with operand 0
  histogram,       ///< element i: for how many elements of operand 0 hook `name` returns i
  unique,          ///< the elements of operand 0 for which hook `name` of the one before is false,
                   ///< with two operands: the elements of operand 1 at the same places
  unique_count,    ///< how many elements these are
  sort_by,         ///< operand 0, or operand 1, in the stable order of what hook `name` returns;
                   ///< the first elements of that if the output has fewer
  run_lengths,     ///< how many elements of operand 0 follow each of `unique`, with it
  fold_runs,       ///< the fold of each run of operand 0; the runs begin at the elements that
                   ///< operand 1, a `unique`, selects
  scan_runs,       ///< element i is the fold from the beginning of its run to element i
  segmented_sort,  ///< operands: elements, offsets of the segments, each sorted by hook `name`;
                   ///< with three operands: operand 2, moved together with operand 0
  merge,           ///< operands 0 and 1, both sorted by hook `name`, merged stably
  lower_bound,     ///< of each element of operand 1, the index of the first element of operand 0,
                   ///< sorted by hook `name`, that is not less
  upper_bound,     ///< the index of the first element that is greater
  filter_equal,    ///< the elements of operand 0 for which hook `name` returns `offset`, in order
  filter_above,    ///< the elements for which it returns more, in order
  count_equal,     ///< for how many elements it returns `offset`
  low_bits,        ///< last operand of `sort_by`, with the size operand 0: only as many least
                   ///< significant bits are compared, rounded up to a multiple of 8 above 0
};
/// "map", "segmented_fold"; "argument" and "index" for the first two.
char const* to_string(operation kind) noexcept;

/// A node of the expression that computes an output: fold(combine, in, init).
struct computation {
  operation kind = operation::argument;    ///< the operation
  std::string name = {};                   ///< of the argument, or of the hook
  std::int64_t offset = 0;                 ///< of a neighbor; the number of filter_equal
  std::vector<computation> operands = {};  ///< operands, without the hook
};
/// The text form that plans use; window(…) is expanded to its neighbor(…) operands.
std::string to_string(computation const& node);

/// How an output is computed from the inputs.
struct plan_result {
  std::string output = {};  ///< the name of an output argument
  computation value = {};   ///< the expression that computes it
  std::optional<formula_text> depth =
      {};  ///< longest chain of hook calls from an input to a result
};

/// A launch plan.
struct launch_plan {
  std::string name = {};                      ///< of the plan: "reduce"
  std::string summary = {};                   ///< a description for users
  std::string contract = {};                  ///< "reduce/1"; empty: not stated
  std::vector<plan_argument> arguments = {};  ///< in the order of the file
  std::vector<plan_let> lets = {};            ///< sorted so that each uses only earlier ones
  std::vector<plan_launch> launches = {};     ///< made in this order, on one stream
  std::vector<plan_result> results = {};      ///< from "computes"; other outputs are not described
  std::string file = {};                      ///< the file that it was read from, for messages
  /// The type that the transforms bind to "element"; prepare() sets it. Empty: not set yet, or the
  /// transforms bind different types.
  std::optional<element_type> element = {};

  /// Reads and checks the plan in a sidecar.
  /// @throws file_error (code invalid-plan) the plan has an unknown key, type or name, a cycle in
  ///   `let`, or a formula that cannot be parsed. The error names the file, the path within the
  ///   JSON, the cause and the remedy.
  static launch_plan read(std::filesystem::path const& sidecar);

  /// Reads a PLAN file of fatlink_add_fatbin. Differs from read() only in that it refuses "sha256",
  /// which the build adds.
  /// @throws file_error as read().
  static launch_plan read_source(std::filesystem::path const& path);

  /// Reads the plan in the sidecar of `file` (see input::read for which file that is). nullopt if
  /// there is no sidecar, or it contains no plan. @throws file_error as read().
  static std::optional<launch_plan> beside(std::filesystem::path const& file);

  /// The plan in the sidecar with which `file` was read. For a compiled source, the source's
  /// sidecar is read now.
  /// @throws file_error as read().
  /// @throws format_error (digest-mismatch) the input was created from bytes, and the sidecar of
  ///   the file with its name states another digest than that of the bytes.
  static std::optional<launch_plan> beside(input const& file);

  /// The names of the kernels that the plan launches, each once, in the order of their first
  /// launch.
  [[nodiscard]] std::vector<std::string> kernels() const;

  /// The argument with this name; null if there is none.
  [[nodiscard]] plan_argument const* find(std::string_view argument) const noexcept;
};

}  // namespace fatlink
