// SPDX-License-Identifier: Apache-2.0
// The parts of a reference: a hook's reference, prepared for operands of known types, with the
// error of one call; and operands of a plan's `computes`, evaluated for blocks of elements with
// bounds of the errors: an argument, `index`, `neighbor` or a nested `map`. The numbers of a block
// lie element by element. Threads: a program is used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "expression/program.hpp"
#include "fatlink/launch_plan.hpp"
#include "plan/components.hpp"
#include "verification/transform_reference.hpp"

namespace fatlink::detail {

using components = std::vector<component>;

/// What a hook of two operands makes of one number of them.
enum class fold_rule : std::uint8_t {
  other,
  sum,     ///< a.f + b.f
  choice,  ///< a.f or b.f, chosen by min, max or comparisons that no rounding changes
};

/// A hook and the transform that states it. Both must outlive programs of it.
struct stated_hook {
  transform_reference const* owner = nullptr;
  hook_reference const* hook = nullptr;
};

/// What a program is prepared for.
struct hook_program_types {
  std::vector<components> operands = {};    ///< of each parameter
  std::optional<components> result = {};    ///< nothing: as the expressions are
  scalar_kind real = scalar_kind::float32;  ///< of results whose type nothing states
  std::span<std::byte const> state = {};    ///< empty: the defaults of the sidecar
  std::size_t capacity = 1;                 ///< elements of a block, at most
};

class hook_program {
 public:
  /// @throws file_error (invalid-sidecar) the reference does not fit the types: another number of
  ///   parameters, a field that an operand or the result does not have, an operation of integers
  ///   whose operands are floats, or a state that is smaller than the sidecar's.
  hook_program(stated_hook const& stated, hook_program_types const& types);

  [[nodiscard]] components const& result() const noexcept { return result_; }
  [[nodiscard]] hook_tolerance const& tolerance() const noexcept { return tolerance_; }
  /// Of each number of the result.
  [[nodiscard]] std::vector<fold_rule> const& rules() const noexcept { return rules_; }

  /// `operands[i]` are the numbers of operand i of `count` elements; writes those of the results.
  void evaluate(std::span<number const* const> operands, number* results, std::size_t count = 1);
  /// Of element `element` of the last call, the largest magnitude among the floats of the operands
  /// that the expression for number `index` of the result names. `bounds[i]`: how far the numbers
  /// of operand i may be off, which adds to their magnitudes. Infinities and NaN do not count; 0 if
  /// there is none.
  [[nodiscard]] double largest_operand(std::size_t index, std::span<double const* const> bounds,
                                       std::size_t element = 0) const;
  /// Whether the first number of a result is not 0.
  [[nodiscard]] bool is_true(number const* result) const noexcept;

 private:
  struct variable {
    std::size_t operand;
    std::size_t index;  ///< of the component
    std::size_t step;   ///< components of the operand
  };
  /// What a name stands for in each element of a block.
  struct named_values {
    std::string name;
    bool is_integer;
    std::vector<double> reals;
    std::vector<int128> wholes;  ///< of integers only
  };
  struct evaluator {
    expression_program program;
    std::vector<std::size_t> floats = {};  ///< the variables of floats that it names
  };
  /// A name that has the same value in all elements, until others are written.
  void add_name(std::string name, bool is_integer, number const& value);
  [[nodiscard]] bool has_name(std::string const& name) const;
  void write_results(std::size_t index, number* results, std::size_t count) const;
  /// `parsed`: the expressions of the result.
  void add_variables(stated_hook const& stated, hook_program_types const& types,
                     std::vector<expression_syntax> const& parsed);
  void add_evaluators(stated_hook const& stated, hook_program_types const& types,
                      std::vector<expression_syntax> const& parsed);
  [[nodiscard]] std::vector<std::size_t> floats_in(expression_syntax const& parsed) const;
  void find_rules(stated_hook const& stated, std::vector<expression_syntax> const& parsed);

  components result_;
  hook_tolerance tolerance_;
  std::vector<fold_rule> rules_ = {};
  std::size_t capacity_;
  std::vector<named_values> names_;    ///< of variables, then of the state's fields
  std::vector<variable> variables_;    ///< for each name that is not of the state
  std::vector<evaluator> evaluators_;  ///< for each number of the result
};

/// How far a number of a result may be off after one call: docs/verification.md. `value` are the
/// numbers of the whole result, `largest_operand` what `operands` of the tolerance multiplies.
double tolerance_at(hook_tolerance const& tolerance, components const& parts, std::size_t index,
                    number const* value, double largest_operand = 0) noexcept;

/// |value|, of a complex number the modulus.
double magnitude_of(components const& parts, std::size_t index, number const* value) noexcept;

}  // namespace fatlink::detail

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

/// Why an output cannot be verified; what() says it in a clause: "the data of x is not known".
struct not_verifiable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// No transform states what a hook computes.
struct unstated_hook : not_verifiable {
  using not_verifiable::not_verifiable;
};

struct program_context {
  std::vector<transform_reference> const& transforms;
  plan_data const& data;

  /// @throws unstated_hook no transform states the hook.
  [[nodiscard]] stated_hook find_hook(std::string const& name) const;
  /// @throws not_verifiable the argument is not in the data.
  [[nodiscard]] array_view const& find_array(std::string const& name) const;
};

class operand_program {
 public:
  /// `capacity`: elements of a block, at most.
  operand_program(components parts, std::size_t capacity);
  virtual ~operand_program() = default;
  /// Of `count` elements from `begin` on, at most capacity().
  virtual void evaluate(std::size_t begin, std::size_t count) = 0;

  [[nodiscard]] components const& parts() const noexcept { return parts_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  /// The numbers of element `place` of the block, and how far they may be off.
  [[nodiscard]] number const* values(std::size_t place = 0) const noexcept
  {
    return values_.data() + place * parts_.size();
  }
  [[nodiscard]] double const* bounds(std::size_t place = 0) const noexcept
  {
    return bounds_.data() + place * parts_.size();
  }

 protected:
  components parts_;
  std::size_t capacity_;
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
