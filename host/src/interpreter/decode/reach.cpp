// SPDX-License-Identifier: Apache-2.0
#include "interpreter/decode/reach.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "interpreter/decode/alignment.hpp"
#include "util/limits.hpp"

namespace fatlink::interpreter {
namespace {

constexpr std::uint64_t k_shared_alignment = 128;

/// Calls use(entity) for what each symbol in `operand` means. Recursive: the parser nests parts of
/// operands at most four deep.
template <typename Use>
void each_symbol(std::map<std::string, entity> const& names, syntax::operand const& operand,
                 Use const& use)
{
  for (auto const& part : operand.parts) each_symbol(names, part, use);
  if (operand.kind != syntax::operand_kind::symbol) return;
  if (auto const meaning = names.find(operand.name); meaning != names.end()) use(meaning->second);
}

template <typename Use>
void each_symbol(linked_modules const& modules, unsigned function, Use const& use)
{
  auto const& [module, syntax] = modules.functions[function];
  for (auto const& instruction : syntax->instructions)
    for (auto const& operand : instruction.operands)
      each_symbol(modules.names[module], operand, use);
}

class layout_builder {
 public:
  explicit layout_builder(linked_modules const& modules) : modules_(modules) {}

  void add_function(unsigned function)
  {
    each_symbol(modules_, function, [this](entity const& meaning) {
      if (meaning.kind != entity_kind::variable) return;
      auto const& [module, variable] = modules_.variables[meaning.index];
      if (variable->space != ptx::space::shared || layout_.variables.contains(meaning.index))
        return;
      layout_.variables.emplace(meaning.index, place(module, *variable));
    });
    auto const& [module, syntax] = modules_.functions[function];
    for (unsigned i = 0; i < syntax->variables.size(); ++i)
      if (syntax->variables[i].space == ptx::space::shared)
        layout_.inner.emplace(std::pair{function, i}, place(module, syntax->variables[i]));
  }

  shared_layout result()
  {
    layout_.bytes = aligned(layout_.bytes, k_shared_alignment);
    return std::move(layout_);
  }

 private:
  std::uint64_t place(unsigned module, syntax::variable const& variable)
  {
    auto const offset = aligned(layout_.bytes, variable.align);
    layout_.bytes = offset + variable.bytes();
    if (layout_.bytes <= limits::k_static_shared_bytes) return offset;
    auto const& source = modules_.modules[module].name;
    throw failure(fault::invalid,
                  line_in_ptx(source, variable.line) + ": " + variable.name +
                      ": a kernel has more than 48 KiB of static shared memory; use dynamic "
                      "shared memory",
                  source, variable.line);
  }

  linked_modules const& modules_;
  shared_layout layout_;
};

}  // namespace

std::vector<unsigned> reachable_functions(linked_modules const& modules,
                                          std::vector<unsigned> const& roots)
{
  std::set<unsigned> reached(roots.begin(), roots.end());
  std::vector<unsigned> pending(reached.begin(), reached.end());
  while (!pending.empty()) {
    auto const function = pending.back();
    pending.pop_back();
    each_symbol(modules, function, [&](entity const& meaning) {
      if (meaning.kind == entity_kind::function && reached.insert(meaning.index).second)
        pending.push_back(meaning.index);
    });
  }
  return {reached.begin(), reached.end()};
}

shared_layout lay_out_shared(linked_modules const& modules, std::vector<unsigned> const& functions)
{
  layout_builder builder(modules);
  for (auto const function : functions) builder.add_function(function);
  return builder.result();
}

}  // namespace fatlink::interpreter
