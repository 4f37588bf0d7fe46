// SPDX-License-Identifier: Apache-2.0
#include "ptx/double_arithmetic.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace fatlink::ptx {
namespace {

using syntax::instruction;
using syntax::operand;
using syntax::operand_kind;

/// The registers of one function that hold doubles which were floats. Reads the instructions once,
/// in the order of the text, in which compilers define registers before they use them.
class widened_registers {
 public:
  explicit widened_registers(std::size_t count) : is_widened_(count, false) {}

  /// Whether `step` computes with one of the registers; records the registers that it makes.
  bool is_used_by(instruction const& step)
  {
    if (step.operands.empty() || !has(step, "f64")) return false;
    auto const& result = step.operands.front();
    if (step.name == "cvt") {
      if (step.modifiers.back() == "f32") mark(result);  // cvt.f64.f32
      return false;
    }
    auto const reads_one = std::any_of(step.operands.begin() + 1, step.operands.end(),
                                       [&](operand const& source) { return holds_one(source); });
    if (!reads_one) return false;
    if (step.name == "mov") mark(result);
    if (step.name == "st") return has(step, "param");  // an argument of a function on doubles
    return step.name != "mov" && step.name != "ld";
  }

 private:
  static bool has(instruction const& step, std::string_view modifier)
  {
    return std::find(step.modifiers.begin(), step.modifiers.end(), modifier) !=
           step.modifiers.end();
  }
  void mark(operand const& result)
  {
    if (result.kind == operand_kind::register_ && result.index < is_widened_.size())
      is_widened_[result.index] = true;
  }
  [[nodiscard]] bool holds_one(operand const& source) const
  {
    return source.kind == operand_kind::register_ && source.index < is_widened_.size() &&
           is_widened_[source.index];
  }

  std::vector<bool> is_widened_;  ///< by the index of the register
};

std::string spell(instruction const& step)
{
  std::string text(step.name);
  for (auto const modifier : step.modifiers) (text += '.') += modifier;
  return text;
}

std::optional<double_arithmetic> find_in(syntax::function const& function,
                                         syntax::module const& module)
{
  widened_registers registers(function.registers.size());
  for (auto const& step : function.instructions)
    if (registers.is_used_by(step))
      return double_arithmetic{.function = function.name,
                               .instruction = spell(step),
                               .line = step.line,
                               .place = describe(step.location, module.files)};
  return std::nullopt;
}

}  // namespace

std::vector<double_arithmetic> find_double_arithmetic(syntax::module const& module)
{
  std::vector<double_arithmetic> uses;
  for (auto const& function : module.functions)
    if (auto use = find_in(function, module)) uses.push_back(std::move(*use));
  return uses;
}

}  // namespace fatlink::ptx
