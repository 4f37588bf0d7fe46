// SPDX-License-Identifier: Apache-2.0
// The launch plan of a library: its arguments, the launches that it makes and what they compute,
// from the sidecar (the .json beside its fatbin). With a plan a host runs kernels that it has never
// seen. docs/launch_plans.md describes the format. Threads: a plan is a value.
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
  output,   ///< a device array that they write
  scratch,  ///< a device array that only the launches use
  size,     ///< an integer by which counts, grids and other sizes are stated
  value,    ///< a number or a struct, passed by value
  state,    ///< a device array for the transform's hooks: its user data; null if there is none
};
/// "input", "output", "scratch", "size", "value", "state".
char const* to_string(argument_role role) noexcept;

/// An integer expression over sizes, `let` names and facts about the device: "ceil(n / 256)".
/// Text, because what it means depends on the names of its plan.
using formula_text = std::string;

/// One argument of a plan.
struct plan_argument {
  std::string name = {};                      ///< an identifier, unique in the plan
  argument_role role = argument_role::input;  ///< what a caller gives for it
  /// Of an element of an array, of a size or of a value. Empty: "element", the type that the
  /// transform binds, or the state.
  std::optional<element_type> type = {};
  /// The hook whose transform binds the type of an element, or whose data a state is: for plans
  /// with several hooks. Empty: of all transforms, which must agree.
  std::string hook = {};
  /// Of an array: its extents, slowest first; one for an array without dimensions of its own.
  /// Empty for sizes, values and the state.
  std::vector<formula_text> shape = {};
  /// Of an output: how many of its elements are results, over sizes and other outputs that hold one
  /// integer: "count". Empty: all.
  formula_text length = {};
  /// Of an array or a state: its address is a multiple of this many bytes, a power of two to 4,096,
  /// if that is more than its type needs. 0: as the type.
  std::size_t alignment = 0;
  /// Of an output: arguments whose array may be the same one.
  std::vector<std::string> may_overlap = {};
  /// Of a value or size: what is used if the caller gives none, as a JSON text: "0", "1.5".
  std::optional<std::string> default_value = {};
};

/// A name that stands for a formula.
struct plan_let {
  std::string name = {};      ///< an identifier
  formula_text formula = {};  ///< over sizes, facts about the device and other lets
};

/// What a launch passes for one parameter of its kernel.
struct launch_argument {
  std::string argument = {};  ///< the name of an argument; empty: `formula` is passed
  formula_text formula = {};  ///< an integer
  element_type type = {};     ///< of `formula`'s value; unused with `argument`
};

/// One launch of a kernel.
struct plan_launch {
  std::string kernel = {};                              ///< its name, as in the PTX
  std::array<formula_text, 3> grid = {"1", "1", "1"};   ///< blocks
  std::array<formula_text, 3> block = {"1", "1", "1"};  ///< threads
  formula_text shared_bytes = "0";                      ///< dynamic shared memory of a block
  /// Whether its blocks may start before the launch before it has ended (programmatic dependent
  /// launch): its kernel waits by griddepcontrol.wait before it touches what that one writes. Of
  /// the first launch: before what is queued before the call has ended; then all kernels of
  /// launches that state it wait before they touch any memory.
  bool overlap = false;
  std::vector<launch_argument> arguments = {};  ///< in the order of the parameters
};

/// What verification may assume about an output.
enum class operation : std::uint8_t {
  argument,        ///< an array or a value of the plan: `name`
  index,           ///< the index of the element, from 0
  neighbor,        ///< element i + `offset` of operand 0, clamped to its first and last element
  map,             ///< hook `name` of the operands, element by element
  fold,            ///< hook `name` over all elements of operand 0, starting with operand 1
  scan,            ///< inclusive: element i is the fold of elements 0 to i of operand 0
  exclusive_scan,  ///< element i is the fold of elements 0 to i - 1 of operand 0, from operand 1
  filter,          ///< the elements of operand 0 for which hook `name` is true, in order
  rejected,        ///< the others, in order
  count,           ///< how many elements of operand 0 hook `name` is true for
  segmented_fold,  ///< operands: elements, offsets of the segments, initial value
  sort,            ///< operand 0, or operand 1, in the stable order of operand 0 by hook `name`
  histogram,       ///< element i: how many elements of operand 0 hook `name` gives i for
};
/// "map", "segmented_fold"; "argument" and "index" for the first two.
char const* to_string(operation kind) noexcept;

/// A node of what an output is computed by: fold(combine, in, init).
struct computation {
  operation kind = operation::argument;    ///< what is done
  std::string name = {};                   ///< of the argument, or of the hook
  std::int64_t offset = 0;                 ///< of a neighbor
  std::vector<computation> operands = {};  ///< without the hook
};
/// As it is written in a plan; window(…) as its neighbors.
std::string to_string(computation const& node);

/// How an output follows from the inputs.
struct plan_result {
  std::string output = {};                 ///< the name of an output argument
  computation value = {};                  ///< what it is computed by
  std::optional<formula_text> depth = {};  ///< hook calls in a row from an input to a result
};

/// A launch plan.
struct launch_plan {
  std::string name = {};                      ///< of the plan: "reduce"
  std::string summary = {};                   ///< what it computes, for people
  std::string contract = {};                  ///< "reduce/1"; empty: not stated
  std::vector<plan_argument> arguments = {};  ///< in the order of the file
  std::vector<plan_let> lets = {};            ///< sorted so that each uses earlier ones only
  std::vector<plan_launch> launches = {};     ///< made in this order, on one stream
  std::vector<plan_result> results =
      {};                 ///< of "computes"; outputs that it does not name are unknown
  std::string file = {};  ///< the file that it was read from, for messages
  /// The type that the transforms bind to "element", which prepare() sets. Empty: none yet, or
  /// several different ones.
  std::optional<element_type> element = {};

  /// Reads and checks the plan in a sidecar.
  /// @throws file_error (code invalid-plan) names the file, the path within the JSON, the cause and
  ///   the remedy: unknown keys, types or names, a cycle in `let`, a formula that does not parse.
  static launch_plan read(std::filesystem::path const& sidecar);

  /// Reads a PLAN of fatlink_add_fatbin. As read(), but refuses "sha256", which the build adds.
  /// @throws file_error as read().
  static launch_plan read_source(std::filesystem::path const& path);

  /// Reads the sidecar of `file`, which input::read describes. Nothing where there is no sidecar,
  /// or it states no plan. @throws file_error as read().
  static std::optional<launch_plan> beside(std::filesystem::path const& file);

  /// The plan that the sidecar stated when `file` was read; of a compiled source, that of the
  /// source's sidecar now. @throws file_error as read(). @throws format_error (digest-mismatch) the
  /// input was not read from the file of its name, which has been replaced since.
  static std::optional<launch_plan> beside(input const& file);

  /// The kernels that it launches, each once, in the order of their first launch.
  [[nodiscard]] std::vector<std::string> kernels() const;

  /// The argument with this name; null if there is none.
  [[nodiscard]] plan_argument const* find(std::string_view argument) const noexcept;
};

}  // namespace fatlink
