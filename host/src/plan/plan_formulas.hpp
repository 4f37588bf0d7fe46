// SPDX-License-Identifier: Apache-2.0
// The formulas of a launch plan, parsed, in the order in which their values are computed. The
// values are numbered: the multiprocessors, the shared memory of a block, the bytes of an element,
// the sizes, the lets, and the occupancy of each kernel. Threads: immutable after construction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "expression/formula.hpp"
#include "expression/words.hpp"
#include "fatlink/element_type.hpp"
#include "fatlink/launch_plan.hpp"

namespace fatlink::detail {

/// The formulas of one launch.
struct launch_formulas {
  std::array<formula, 3> grid = {};
  std::array<formula, 3> block = {};
  formula shared_bytes = {};
  /// One for each argument of the launch; nothing for an argument of the plan.
  std::vector<std::optional<formula>> arguments = {};
};

struct plan_formulas {
  /// Parses the formulas of `stated`, and checks those that are constant.
  /// @throws file_error (code invalid-plan) a formula does not parse or uses an unknown name, lets
  ///   or occupancies that need each other, or a constant out of range. See launch_plan::read.
  explicit plan_formulas(launch_plan stated);

  static constexpr std::size_t k_multiprocessors = 0;
  static constexpr std::size_t k_shared_memory = 1;
  static constexpr std::size_t k_element_bytes = 2;
  static constexpr std::size_t k_first_size = 3;

  [[nodiscard]] std::size_t first_let() const noexcept { return k_first_size + sizes.size(); }
  [[nodiscard]] std::size_t first_occupancy() const noexcept { return first_let() + lets.size(); }

  launch_plan plan;
  std::vector<std::string> names = {};  ///< of the values: "n", "occupancy(reduce_tiles)"
  std::vector<std::size_t> sizes = {};  ///< indices of the arguments that are sizes
  /// Of each of `sizes` its largest value, which only uses sizes; nothing: not stated.
  std::vector<std::optional<formula>> maxima = {};
  std::vector<formula> lets = {};         ///< in the order of the plan
  std::vector<std::size_t> kernels = {};  ///< of each kernel its first launch
  /// Indices of values: every let, and the occupancies that are used, each after what it uses.
  std::vector<std::size_t> order = {};
  std::vector<std::vector<formula>> shapes = {};  ///< of each argument
  std::vector<launch_formulas> launches = {};
  std::vector<std::optional<formula>> depths = {};  ///< of each result
  bool uses_element_bytes = false;                  ///< k_element_bytes
};

/// Calls `visit` with every formula.
template <typename Visit>
void for_each_formula(plan_formulas const& formulas, Visit const& visit)
{
  for (auto const& maximum : formulas.maxima)
    if (maximum) visit(*maximum);
  for (auto const& let : formulas.lets) visit(let);
  for (auto const& shape : formulas.shapes)
    for (auto const& extent : shape) visit(extent);
  for (auto const& launch : formulas.launches) {
    for (auto const& blocks : launch.grid) visit(blocks);
    for (auto const& threads : launch.block) visit(threads);
    visit(launch.shared_bytes);
    for (auto const& argument : launch.arguments)
      if (argument) visit(*argument);
  }
  for (auto const& depth : formulas.depths)
    if (depth) visit(*depth);
}

/// "arguments[2].count", "arguments[2].shape[1]".
std::string shape_path(launch_plan const& plan, std::size_t argument, std::size_t dimension);
/// "arguments[2].maximum".
std::string maximum_path(std::size_t argument);
/// "launches[0].grid", "launches[0].grid[1]"; `shape` is "grid" or "block".
std::string launch_path(launch_plan const& plan, std::size_t launch, char const* shape,
                        std::size_t dimension);
/// "launches[0].arguments[2]".
std::string launch_argument_path(std::size_t launch, std::size_t argument);

/// @throws file_error (stage sidecar, code invalid-plan) "FILE: PATH: CAUSE"; `path` is within the
///   JSON ("launches[0].grid"), empty for the whole.
[[noreturn]] void fail_plan(std::string const& file, std::string const& path,
                            std::string const& cause, std::string hint);

/// As above, for `error` in the formula `text`: 'FILE: PATH: "n / 0": CAUSE'.
[[noreturn]] void fail_formula(std::string const& file, std::string const& path,
                               std::string const& text, expression_error const& error);

/// Checks the lengths of all outputs.
/// @throws file_error (code invalid-plan) a length that is no formula over the sizes and the other
///   outputs of one integer, or that uses no output.
void check_lengths(launch_plan const& plan);

/// The length of `output`, which states one. `values`: the sizes, and of the outputs of one integer
/// what they hold. Nothing where the formula has no value: an overflow, a division by zero.
std::optional<std::int64_t> compute_length(launch_plan const& plan, plan_argument const& output,
                                           std::map<std::string, std::int64_t> const& values);

/// Whether `argument` is an output of one integer, which a length may use.
bool holds_length(plan_argument const& argument);

// The ranges of what formulas compute. Source: CUDA C++ Programming Guide 13.0, "Technical
// Specifications per Compute Capability", the same for all architectures that CUDA 13 supports.
// Each function throws expression_error for a value out of range.

/// Blocks of a grid in `dimension` 0 to 2: 0 to 2^31 - 1 in x, 0 to 65,535 in y and z.
unsigned check_grid(std::int64_t blocks, std::size_t dimension);
/// Threads of a block in `dimension` 0 to 2: 1 to 1,024 in x and y, 1 to 64 in z.
unsigned check_block(std::int64_t threads, std::size_t dimension);
/// Threads of a block in all dimensions together: at most 1,024.
void check_block_threads(std::array<unsigned, 3> const& block);
/// Dynamic shared memory of a block: 0 to 2^31 - 1 bytes. Devices have less, and refuse more.
std::size_t check_shared_bytes(std::int64_t bytes);
/// An extent of an array: 0 or more.
std::size_t check_extent(std::int64_t count);
/// A value that is passed as the integer type `type`.
void check_fits(std::int64_t value, element_type const& type);

/// Whether `value` is in the range of the integer type `type`.
bool fits(std::int64_t value, element_type const& type) noexcept;
bool is_integer(element_type const& type) noexcept;

}  // namespace fatlink::detail
