// SPDX-License-Identifier: Apache-2.0
#include "interpreter/decode/link_modules.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "interpreter/decode/address_space.hpp"
#include "util/limits.hpp"

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

/// Measures the variable argument lists of all calls: linked_modules::variadic_bytes. A call by
/// address may call any function.
void measure_variadic_calls(linked_modules& modules)
{
  call_measurement(modules).measure();
}

using ptx::space;
using syntax::linkage;

std::optional<builtin> find_builtin(std::string const& name)
{
  if (name == "vprintf") return builtin::printf;
  if (name == "__assertfail") return builtin::assert_fail;
  if (name == "malloc") return builtin::malloc;
  if (name == "free") return builtin::free;
  return {};
}

bool same_shape(std::vector<syntax::variable> const& a, std::vector<syntax::variable> const& b)
{
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto const& x, auto const& y) {
    return x.bytes() == y.bytes() && size_of(x.type) == size_of(y.type);
  });
}

std::string prototype_of(syntax::function const& function)
{
  auto const list = [](std::vector<syntax::variable> const& variables) {
    std::string text = "(";
    for (auto const& variable : variables) {
      if (text.size() > 1) text += ", ";
      text += variable.is_variadic()
                  ? "..."
                  : std::to_string(variable.bytes()) + (variable.bytes() == 1 ? " byte" : " bytes");
    }
    return text + ")";
  };
  return list(function.results) + " " + function.name + list(function.parameters);
}

class symbol_table {
 public:
  explicit symbol_table(std::vector<syntax::module> modules)
  {
    linked_.modules = std::move(modules);
    linked_.names.resize(linked_.modules.size());
  }

  linked_modules link()
  {
    for (unsigned i = 0; i < linked_.modules.size(); ++i) define_all(i);
    for (unsigned i = 0; i < linked_.modules.size(); ++i) resolve_all(i);
    for (unsigned i = 0; i < linked_.modules.size(); ++i) check_uses(i);
    measure_variadic_calls(linked_);
    return std::move(linked_);
  }

 private:
  using table_names = std::set<std::string_view>;
  struct global_definition {
    entity meaning;
    unsigned module;
    syntax::linkage linkage;
  };

  void define_all(unsigned module)
  {
    for (auto const& declared : linked_.modules[module].functions) {
      if (!declared.has_body) continue;
      define(module, declared.name, declared.linkage,
             {entity_kind::function, static_cast<unsigned>(linked_.functions.size())});
      linked_.functions.push_back({module, &declared});
    }
    if (!linked_.modules[module].aliases.empty()) define_aliases(module);
    for (auto const& declared : linked_.modules[module].variables) {
      if (declared.linkage == linkage::external) continue;
      define(module, declared.name, declared.linkage,
             {entity_kind::variable, static_cast<unsigned>(linked_.variables.size())});
      linked_.variables.push_back({module, &declared});
    }
  }

  /// Gives each alias the linkage of its declaration.
  void define_aliases(unsigned module)
  {
    std::map<std::string_view, syntax::linkage> linkages;
    for (auto const& declared : linked_.modules[module].functions)
      linkages.emplace(declared.name, declared.linkage);
    for (auto const& alias : linked_.modules[module].aliases) {
      auto const declared = linkages.find(alias.name);
      define(module, alias.name, declared == linkages.end() ? linkage::local : declared->second,
             target_of(module, alias));
    }
  }

  [[nodiscard]] entity target_of(unsigned module, syntax::function_alias const& alias) const
  {
    auto const target = linked_.names[module].find(alias.target);
    if (target != linked_.names[module].end() && target->second.kind == entity_kind::function)
      return target->second;
    auto const& source = linked_.modules[module].name;
    throw code_error(error_kind::unresolved,
                     line_in_ptx(source, alias.line) + ": " + alias.name + " is an alias of " +
                         alias.target + ", which is not a function that the module defines",
                     source, alias.line);
  }

  void define(unsigned module, std::string const& name, syntax::linkage linkage, entity meaning)
  {
    if (!linked_.names[module].emplace(name, meaning).second) fail_twice(name, module, module);
    if (linkage == linkage::local) return;
    auto const [entry, is_new] = global_.emplace(name, global_definition{meaning, module, linkage});
    if (is_new) return;
    auto const strong = [](syntax::linkage value) { return value == linkage::visible; };
    if (strong(linkage) && strong(entry->second.linkage))
      fail_twice(name, entry->second.module, module);
    if (strong(linkage)) entry->second = {meaning, module, linkage};
  }

  [[noreturn]] void fail_twice(std::string const& name, unsigned owner, unsigned repeated) const
  {
    auto const& source = linked_.modules[repeated].name;
    throw code_error(
        error_kind::duplicate,
        name + " is defined twice: by " + linked_.modules[owner].name + " and by " + source,
        source);
  }

  void resolve_all(unsigned module)
  {
    auto& names = linked_.names[module];
    for (auto& [name, meaning] : names)  // of several definitions, the chosen one
      if (auto const chosen = global_.find(name);
          chosen != global_.end() && !is_local(module, meaning)) {
        check_definitions(module, meaning, chosen->second.meaning);
        meaning = chosen->second.meaning;
      }
    for (auto const& function : linked_.modules[module].functions)
      if (!function.has_body) resolve(module, function);
    for (auto const& variable : linked_.modules[module].variables)
      if (variable.linkage == linkage::external) resolve(module, variable);
  }

  [[nodiscard]] bool is_local(unsigned module, entity const& meaning) const
  {
    if (meaning.kind == entity_kind::function)
      return linked_.functions[meaning.index].syntax->linkage == linkage::local;
    return meaning.kind == entity_kind::variable &&
           linked_.variables[meaning.index].module == module &&
           linked_.variables[meaning.index].syntax->linkage == linkage::local;
  }

  void resolve(unsigned module, syntax::function const& declared)
  {
    auto& names = linked_.names[module];
    if (auto const local = names.find(declared.name); local != names.end()) {
      if (local->second.kind == entity_kind::builtin) return;  // declared before; calls are checked
      return check_prototype(module, declared, local->second);
    }
    if (auto const global = global_.find(declared.name); global != global_.end()) {
      check_prototype(module, declared, global->second.meaning);
      names.emplace(declared.name, global->second.meaning);
    } else if (auto const builtin = find_builtin(declared.name)) {
      names.emplace(declared.name, entity{entity_kind::builtin, static_cast<unsigned>(*builtin)});
    }
  }

  void check_definitions(unsigned module, entity const& local, entity const& chosen) const
  {
    auto const is_other = local.kind != chosen.kind || local.index != chosen.index;
    if (is_other && local.kind == entity_kind::function)
      check_prototype(module, *linked_.functions[local.index].syntax, chosen);
  }

  void check_prototype(unsigned module, syntax::function const& declared,
                       entity const& meaning) const
  {
    auto const& source = linked_.modules[module].name;
    if (meaning.kind != entity_kind::function)
      throw code_error(
          error_kind::prototype,
          declared.name + " is declared as a function by " + source + " but is not a function",
          source, declared.line);
    auto const& [owner, definition] = linked_.functions[meaning.index];
    if (same_shape(declared.results, definition->results) &&
        same_shape(declared.parameters, definition->parameters))
      return;
    throw code_error(error_kind::prototype,
                     "the prototypes differ: " + source +
                         (declared.has_body ? " defines " : " declares ") + prototype_of(declared) +
                         ", " + linked_.modules[owner].name + " defines " +
                         prototype_of(*definition),
                     linked_.modules[owner].name, definition->line);
  }

  void resolve(unsigned module, syntax::variable const& declared)
  {
    auto& names = linked_.names[module];
    if (names.contains(declared.name)) return;
    auto const definition = global_.find(declared.name);
    if (definition == global_.end()) {
      if (declared.space == space::shared) define_shared(module, declared);
      return;
    }
    auto const& source = linked_.modules[module].name;
    auto const& meaning = definition->second.meaning;
    if (meaning.kind != entity_kind::variable ||
        linked_.variables[meaning.index].syntax->space != declared.space ||
        (declared.count != 0 &&
         linked_.variables[meaning.index].syntax->bytes() != declared.bytes()))
      throw code_error(error_kind::prototype,
                       source + " and " + linked_.modules[definition->second.module].name +
                           " disagree on " + declared.name,
                       source, declared.line);
    names.emplace(declared.name, meaning);
  }

  /// Shared memory that no module defines: an array of unknown size is that of the launch; ptxas
  /// ignores `.extern` of others.
  void define_shared(unsigned module, syntax::variable const& declared)
  {
    entity meaning{entity_kind::dynamic_shared, 0};
    if (declared.count != 0) {
      meaning = {entity_kind::variable, static_cast<unsigned>(linked_.variables.size())};
      linked_.variables.push_back({module, &declared});
      global_.emplace(declared.name, global_definition{meaning, module, linkage::common});
    }
    linked_.names[module].emplace(declared.name, meaning);
  }

  void check_uses(unsigned module) const
  {
    for (auto const& function : linked_.modules[module].functions) {
      auto const tables = tables_of(function);
      for (auto const& instruction : function.instructions)
        for (auto const& operand : instruction.operands)
          check_use(module, tables, instruction, operand);
    }
    for (auto const& variable : linked_.modules[module].variables)
      for (auto const& value : variable.initial)
        if (!value.symbol.empty()) check_name(module, value.symbol, variable.line);
  }

  /// Recursive: the parser nests parts of operands at most four deep.
  void check_use(unsigned module, table_names const& tables, syntax::instruction const& instruction,
                 syntax::operand const& operand) const
  {
    for (auto const& part : operand.parts) check_use(module, tables, instruction, part);
    if (operand.kind != syntax::operand_kind::symbol || tables.contains(operand.name)) return;
    check_name(module, operand.name, instruction.line);
  }

  /// The labels of .branchtargets and .callprototype in `function`.
  static table_names tables_of(syntax::function const& function)
  {
    table_names names(function.prototypes.begin(), function.prototypes.end());
    for (auto const& table : function.tables) names.insert(table.name);
    return names;
  }

  void check_name(unsigned module, std::string const& name, unsigned line) const
  {
    if (linked_.names[module].contains(name)) return;
    auto const& source = linked_.modules[module].name;
    throw code_error(error_kind::unresolved,
                     name + " is used by " + source + " and defined by no input", source, line);
  }

  linked_modules linked_;
  std::map<std::string, global_definition>
      global_;  // no hash table: an input could provoke collisions
};

}  // namespace

linked_modules link(std::vector<syntax::module> modules)
{
  return symbol_table(std::move(modules)).link();
}

namespace {

// What a kernel reaches.

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
    throw code_error(error_kind::invalid,
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
