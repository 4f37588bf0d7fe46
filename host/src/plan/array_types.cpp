// SPDX-License-Identifier: Apache-2.0
// Compares the types that a plan states for arrays with the types by which kernels access them.
// PTX declares a pointer without the type of what it points to; the loads and stores through it
// have types. nvcc 13.0 writes f32 and f64 for floats, and u32, b32 and the like for integers, but
// also for elements that are only copied. So only arrays of integers that are accessed as floats
// are known to be wrong. Newer compilers write b32 for floats too: then nothing is known.
// Source: PTX ISA 9.0, "Data Movement Instructions"; observed with nvcc 13.0.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fatlink/ptx_interface.hpp"
#include "plan/check_plan.hpp"
#include "ptx/lexer.hpp"
#include "ptx/parser.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

namespace syntax = ptx::syntax;

/// Parameters of a kernel, one bit each.
using parameter_set = std::uint64_t;
constexpr std::size_t k_most_parameters = 64;
constexpr int k_most_passes = 64;  ///< compilers write values before their uses
constexpr std::uint64_t k_most_text = std::uint64_t{4} << 20;

/// How a kernel accesses the memory that a parameter points to.
struct memory_uses {
  bool as_float = false;    ///< f32 and f64
  bool as_integer = false;  ///< and untyped
};

bool has_word(syntax::instruction const& instruction, std::string_view word)
{
  return std::ranges::find(instruction.modifiers, word) != instruction.modifiers.end();
}

bool is_access(syntax::instruction const& instruction)
{
  return instruction.name == "ld" || instruction.name == "st" || instruction.name == "atom" ||
         instruction.name == "red";
}

/// The memory accesses of one kernel through its parameters.
class memory_accesses {
 public:
  explicit memory_accesses(syntax::function const& kernel)
      : kernel_(kernel), sources_(kernel.registers.size()), uses_(kernel.parameters.size())
  {
    if (kernel.parameters.size() > k_most_parameters) return;
    for (auto pass = 0; pass < k_most_passes && trace(); ++pass) {
    }
    for (auto const& instruction : kernel.instructions) note(instruction);
  }

  [[nodiscard]] std::vector<memory_uses> const& uses() const noexcept { return uses_; }

 private:
  /// Adds to each register the parameters from which its value is computed. Returns whether
  /// anything was added, which happens once for each register and parameter at most.
  bool trace()
  {
    auto has_changed = false;
    for (auto const& instruction : kernel_.instructions) {
      auto const& operands = instruction.operands;
      if (operands.size() < 2 || operands[0].kind != syntax::operand_kind::register_) continue;
      auto& target = sources_[operands[0].index];
      auto const before = target;
      target |= sources_of(instruction);
      has_changed = has_changed || target != before;
    }
    return has_changed;
  }

  /// Values that are loaded from memory come from no parameter.
  [[nodiscard]] parameter_set sources_of(syntax::instruction const& instruction) const
  {
    if (instruction.name == "ld" && has_word(instruction, "param"))
      return parameter_of(instruction.operands[1]);
    if (is_access(instruction)) return 0;
    parameter_set sources = 0;
    for (std::size_t i = 1; i < instruction.operands.size(); ++i)
      if (instruction.operands[i].kind == syntax::operand_kind::register_)
        sources |= sources_[instruction.operands[i].index];
    return sources;
  }

  /// Of [parameter], where that is a pointer or another number of 8 bytes.
  [[nodiscard]] parameter_set parameter_of(syntax::operand const& address) const
  {
    if (address.kind != syntax::operand_kind::address || address.parts.size() != 1) return 0;
    auto const& variable = address.parts.front();
    if (variable.kind != syntax::operand_kind::variable) return 0;
    auto const first = kernel_.results.size();
    if (variable.index < first || variable.index - first >= kernel_.parameters.size()) return 0;
    auto const& parameter = kernel_.parameters[variable.index - first];
    return parameter.bytes() == 8 ? parameter_set{1} << (variable.index - first) : 0;
  }

  void note(syntax::instruction const& instruction)
  {
    if (!is_access(instruction) || instruction.modifiers.empty()) return;
    auto const type = ptx::parse_type(instruction.modifiers.back());
    if (!type) return;
    for (auto const& operand : instruction.operands) {
      if (operand.kind != syntax::operand_kind::address || operand.parts.size() != 1) continue;
      auto const& base = operand.parts.front();
      if (base.kind != syntax::operand_kind::register_) continue;
      for (std::size_t i = 0; i < uses_.size(); ++i)
        if ((sources_[base.index] >> i & 1U) != 0)
          (ptx::is_float(*type) ? uses_[i].as_float : uses_[i].as_integer) = true;
    }
  }

  syntax::function const& kernel_;
  std::vector<parameter_set> sources_;  ///< of each register
  std::vector<memory_uses> uses_;       ///< of each parameter
};

bool is_array_of_integers(plan_argument const& argument)
{
  if (argument.role != argument_role::input && argument.role != argument_role::output) return false;
  return argument.type &&
         (argument.type->kind == scalar_kind::int32 || argument.type->kind == scalar_kind::uint32 ||
          argument.type->kind == scalar_kind::int64 || argument.type->kind == scalar_kind::uint64);
}

/// The first argument of `launch` that `kernel` accesses as floats only, and is an array of
/// integers; null if there is none.
plan_argument const* find_other_type(launch_plan const& plan, plan_launch const& launch,
                                     syntax::function const& kernel)
{
  if (kernel.parameters.size() != launch.arguments.size()) return nullptr;
  memory_accesses const accesses(kernel);
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    auto const* const argument = plan.find(launch.arguments[i].argument);
    auto const& uses = accesses.uses()[i];
    if (argument != nullptr && is_array_of_integers(*argument) && uses.as_float && !uses.as_integer)
      return argument;
  }
  return nullptr;
}

finding make_other_type(launch_plan const& plan, std::size_t index, plan_argument const& argument,
                        std::string const& module)
{
  auto const& kernel = plan.launches[index].kernel;
  return {.id = finding_id::plan_mismatch,
          .severity = severity::error,
          .files = {module, plan.file},
          .symbol = kernel,
          .message = detail::format(
              "{}: launches[{}] passes {}, an array of {}, and {} of {} accesses it as floats only",
              plan.file, index, argument.name, to_string(*argument.type), kernel, module),
          .hint = detail::format("correct the \"type\" of {}, or the order of \"arguments\"",
                                 argument.name)};
}

void check_module(launch_plan const& plan, syntax::module const& code, std::string const& module,
                  std::vector<finding>& findings)
{
  for (std::size_t i = 0; i < plan.launches.size(); ++i)
    for (auto const& function : code.functions) {
      if (!function.is_entry || function.name != plan.launches[i].kernel) continue;
      if (auto const* const argument = find_other_type(plan, plan.launches[i], function))
        findings.push_back(make_other_type(plan, i, *argument, module));
    }
}

}  // namespace

std::vector<finding> check_array_types(launch_plan const& plan, std::span<fatbin const> modules)
{
  std::vector<finding> findings;
  if (std::ranges::none_of(plan.arguments, is_array_of_integers)) return findings;
  for (auto const& module : modules)
    for (auto const& entry : module.entries()) {
      if (entry.kind != entry_kind::ptx || entry.uncompressed_size > k_most_text) continue;
      if (module.interface(entry).kernels.empty()) continue;
      try {
        check_module(plan, ptx::parse_module(read_ptx(entry, module.name()), module.name()),
                     module.name(), findings);
      } catch (ptx::syntax_error const&) {  // a link reports it
      }
      break;  // the other entries are of the same source
    }
  return findings;
}

}  // namespace fatlink::detail
