// SPDX-License-Identifier: Apache-2.0
// Operands of a plan's `computes`, evaluated at one index at a time with a bound of the error: an
// argument, `index`, `neighbor` or a nested `map`. Threads: a program is used by one thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "fatlink/launch_plan.hpp"
#include "verification/hook_program.hpp"

namespace fatlink {

/// Elements in host memory.
struct array_view {
  element_type type = {};
  std::span<std::byte const> bytes = {};  ///< need not be aligned; must outlive the view

  [[nodiscard]] std::size_t count() const noexcept { return bytes.size() / type.size; }
};

/// What a run of a plan used: host copies from before its launches, which must outlive checks.
struct plan_data {
  /// Inputs, values and sizes by name; a value is an array of one element.
  std::map<std::string, array_view> arguments = {};
  std::span<std::byte const> state = {};  ///< empty: the defaults of the sidecars
  /// "depth" of outputs: hook calls in a row from an input to a result.
  std::map<std::string, std::uint64_t> depths = {};
};

namespace detail {

/// Why an output cannot be verified; what() says it in a clause: "hook x has no reference".
struct not_verifiable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct program_context {
  std::vector<transform_reference> const& transforms;
  plan_data const& data;

  /// @throws not_verifiable no transform states the hook.
  [[nodiscard]] stated_hook find_hook(std::string const& name) const;
  /// @throws not_verifiable the argument is not in the data.
  [[nodiscard]] array_view const& find_array(std::string const& name) const;
};

class operand_program {
 public:
  virtual ~operand_program() = default;
  virtual void evaluate(std::size_t index) = 0;

  [[nodiscard]] components const& parts() const noexcept { return parts_; }
  [[nodiscard]] number const* values() const noexcept { return values_.data(); }
  [[nodiscard]] double const* bounds() const noexcept { return bounds_.data(); }

 protected:
  void set_parts(components parts);

  components parts_;
  std::vector<number> values_;
  std::vector<double> bounds_;
};

/// `count`: elements that are evaluated; arrays have as many, or one, which is then used for every
/// element. `result`: of the outermost map, if it is known.
/// @throws not_verifiable as program_context; an array of another count; an operation that is no
///   operand. @throws file_error as hook_program.
std::unique_ptr<operand_program> compile_operand(computation const& node,
                                                 program_context const& context, std::size_t count,
                                                 std::optional<components> const& result);

/// The elements of the arrays in `node`: the largest count.
std::size_t count_of(computation const& node, program_context const& context);

/// The kind of inner results whose type nothing states: float64 if an array of `node` has it, else
/// float32.
scalar_kind real_kind_of(computation const& node, program_context const& context);

}  // namespace detail
}  // namespace fatlink
