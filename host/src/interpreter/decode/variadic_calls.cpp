// SPDX-License-Identifier: Apache-2.0
#include "interpreter/decode/variadic_calls.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fatlink::interpreter {
namespace {

class call_measurement {
 public:
  explicit call_measurement(linked_modules& modules) : linked_(modules) {}

  void measure()
  {
    linked_.variadic_bytes.resize(linked_.functions.size());
    for (unsigned i = 0; i < linked_.functions.size(); ++i)
      if (is_variadic(*linked_.functions[i].syntax)) variadic_.push_back(i);
    if (variadic_.empty()) return;
    for (unsigned i = 0; i < linked_.modules.size(); ++i) measure_calls(i);
    for (auto const index : variadic_) note_bytes(index, indirect_bytes_);
  }

 private:
  void measure_calls(unsigned module)
  {
    for (auto const& function : linked_.modules[module].functions)
      for (auto const& instruction : function.instructions)
        if (instruction.name == "call") measure_call(module, function, instruction.operands);
  }

  void measure_call(unsigned module, syntax::function const& caller,
                    std::vector<syntax::operand> const& operands)
  {
    auto const callee = std::find_if(
        operands.begin(), operands.end(),
        [](syntax::operand const& operand) { return operand.kind != syntax::operand_kind::list; });
    if (callee == operands.end()) return;
    auto const arguments = std::next(callee);
    if (arguments == operands.end() || arguments->kind != syntax::operand_kind::list) return;
    if (arguments->parts.empty()) return;
    auto const& last = arguments->parts.back();
    if (last.kind != syntax::operand_kind::variable) return;
    note_call(module, *callee, caller.variables[last.index].bytes());
  }

  void note_call(unsigned module, syntax::operand const& callee, std::uint64_t bytes)
  {
    if (callee.kind != syntax::operand_kind::symbol) {
      indirect_bytes_ = std::max(indirect_bytes_, bytes);
      return;
    }
    auto const name = linked_.names[module].find(callee.name);
    if (name != linked_.names[module].end() && name->second.kind == entity_kind::function)
      note_bytes(name->second.index, bytes);
  }

  void note_bytes(unsigned function, std::uint64_t bytes)
  {
    linked_.variadic_bytes[function] = std::max(linked_.variadic_bytes[function], bytes);
  }

  linked_modules& linked_;
  std::vector<unsigned> variadic_ = {};  ///< indices of variadic functions
  std::uint64_t indirect_bytes_ = 0;     ///< the longest argument list of a call by address
};

}  // namespace

void measure_variadic_calls(linked_modules& modules)
{
  call_measurement(modules).measure();
}

}  // namespace fatlink::interpreter
