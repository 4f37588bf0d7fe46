// SPDX-License-Identifier: Apache-2.0
// The values of a plan's formulas for given sizes on a given device: extents of arrays, grids,
// blocks, shared memory. Units: elements, blocks, threads, bytes. Threads: no shared state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "plan/plan_formulas.hpp"

namespace fatlink::detail {

/// What formulas may use beside sizes.
struct device_facts {
  std::int64_t multiprocessors = 1;
  std::int64_t shared_memory = 0;  ///< bytes that a block can have
  std::int64_t element_bytes = 0;  ///< of the type that the transform binds; 0: none
  /// How many blocks of `threads` threads and `shared_bytes` of dynamic shared memory a
  /// multiprocessor runs at a time. Called once for each kernel whose occupancy the plan uses, in
  /// every computation: it should remember what a driver answers.
  std::function<std::int64_t(std::string const& kernel, unsigned threads, std::size_t shared_bytes)>
      occupancy = {};
};

struct launch_values {
  std::array<unsigned, 3> grid = {};   ///< blocks; a launch with 0 is not made
  std::array<unsigned, 3> block = {};  ///< threads
  std::size_t shared_bytes = 0;        ///< of dynamic shared memory
  /// What is passed for each argument that is a formula, in the range of its type; 0 for others.
  std::vector<std::int64_t> arguments = {};

  [[nodiscard]] bool is_made() const noexcept
  {
    return grid[0] != 0 && grid[1] != 0 && grid[2] != 0;
  }
};

struct plan_values {
  std::vector<std::int64_t> values = {};               ///< as plan_formulas numbers them
  std::vector<std::vector<std::size_t>> extents = {};  ///< of each argument; empty for no array
  std::vector<std::size_t> counts = {};                ///< elements of each argument: the product
  std::vector<launch_values> launches = {};
};

/// Computes `result`, whose memory it uses again. `sizes`: one for each of formulas.sizes, in that
/// order (find_sizes). Measured: 0.2 us for two launches and three sizes, besides what the
/// occupancy function takes.
/// @throws file_error (code invalid-plan) an overflow, a division by zero, or a value out of range;
///   names the path within the JSON and the sizes.
/// @throws usage_error the plan needs the size of an element, and there is none.
/// @throws device_error a kernel whose occupancy is used cannot run on the device.
void compute_values(plan_formulas const& formulas, std::span<std::int64_t const> sizes,
                    device_facts const& facts, plan_values& result);

/// As above, into new memory.
plan_values compute_values(plan_formulas const& formulas, std::span<std::int64_t const> sizes,
                           device_facts const& facts);

/// The extents and counts of the arrays that depend on sizes only. Of an array that depends on the
/// device, by `multiprocessors`, `shared_memory` or `occupancy`, the extents are empty; nothing
/// else is computed.
/// @throws file_error, usage_error as compute_values.
plan_values compute_without_device(plan_formulas const& formulas,
                                   std::span<std::int64_t const> sizes);

/// The hook calls in a row that the plan states for formulas.plan.results[result]; 0: not stated.
/// @throws file_error as compute_values.
std::size_t compute_depth(plan_formulas const& formulas, std::size_t result,
                          plan_values const& values);

/// Extents by the name of an argument, slowest first: {"image", {480, 640}}.
using array_extents = std::map<std::string, std::vector<std::size_t>, std::less<>>;
/// Sizes by name.
using stated_sizes = std::map<std::string, std::int64_t, std::less<>>;
/// How a caller gives the size of this name.
using size_remedy = std::string (*)(std::string const& size);

/// "give its value, as in n=N", which the command line shows as an option.
std::string remedy_by_name(std::string const& size);

/// The sizes of the plan in the order of formulas.sizes. A size follows from an array of which an
/// extent is the size, or the size plus, minus or times a number: n of "count": "n + 1", not of
/// "ceil(n / 2)". One that is neither stated nor follows has its default.
/// @throws usage_error `stated` or `arrays` name no size or array of the plan; an array of another
///   number of dimensions; a size out of the range of its type; two values of one size (names both
///   arguments, what is expected and what is given); a size without value, with
///   `remedy` as the hint.
std::vector<std::int64_t> find_sizes(plan_formulas const& formulas, array_extents const& arrays,
                                     stated_sizes const& stated,
                                     size_remedy remedy = remedy_by_name);

/// @throws usage_error an array does not have the extents that `values` computed; names it, the
///   formula, what is expected and what is given.
void check_extents(plan_formulas const& formulas, plan_values const& values,
                   array_extents const& arrays);

}  // namespace fatlink::detail
