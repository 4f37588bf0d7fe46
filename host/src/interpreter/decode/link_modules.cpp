// SPDX-License-Identifier: Apache-2.0
#include "interpreter/decode/link_modules.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

namespace fatlink::interpreter {
namespace {

using ptx::space;

using syntax::linkage;

std::optional<builtin> find_builtin(std::string const& name)
{
  if (name == "vprintf") return builtin::printf;
  if (name == "__assertfail") return builtin::assert_fail;
  if (name == "malloc" || name == "free") return builtin::heap;
  return {};
}

bool same_shape(std::vector<syntax::variable> const& a, std::vector<syntax::variable> const& b)
{
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto const& x, auto const& y) {
    return x.bytes() == y.bytes() && size_of(x.type) == size_of(y.type);
  });
}

std::string prototype_of(syntax::function const& of)
{
  auto const list = [](std::vector<syntax::variable> const& all) {
    std::string text = "(";
    for (auto const& one : all) {
      if (text.size() > 1) text += ", ";
      text += one.is_variadic()
                  ? "..."
                  : std::to_string(one.bytes()) + (one.bytes() == 1 ? " byte" : " bytes");
    }
    return text + ")";
  };
  return list(of.results) + " " + of.name + list(of.parameters);
}

class symbol_table {
 public:
  explicit symbol_table(std::vector<syntax::module> modules)
  {
    made_.modules = std::move(modules);
    made_.names.resize(made_.modules.size());
  }

  linked_modules link()
  {
    for (unsigned i = 0; i < made_.modules.size(); ++i) define_all(i);
    for (unsigned i = 0; i < made_.modules.size(); ++i) resolve_all(i);
    for (unsigned i = 0; i < made_.modules.size(); ++i) check_uses(i);
    measure_calls();
    return std::move(made_);
  }

 private:
  using table_names = std::set<std::string_view>;
  struct definition {
    entity what;
    unsigned module;
    syntax::linkage linkage;
  };

  void define_all(unsigned module)
  {
    for (auto const& one : made_.modules[module].functions) {
      if (!one.has_body) continue;
      define(module, one.name, one.linkage,
             {entity::kind::function, static_cast<unsigned>(made_.functions.size())});
      made_.functions.push_back({module, &one});
    }
    for (auto const& one : made_.modules[module].variables) {
      if (one.linkage == linkage::external) continue;
      define(module, one.name, one.linkage,
             {entity::kind::variable, static_cast<unsigned>(made_.variables.size())});
      made_.variables.push_back({module, &one});
    }
  }

  void define(unsigned module, std::string const& name, syntax::linkage how, entity what)
  {
    if (!made_.names[module].emplace(name, what).second) fail_twice(name, module, module);
    if (how == linkage::local) return;
    auto const [at, is_new] = global_.emplace(name, definition{what, module, how});
    if (is_new) return;
    auto const strong = [](syntax::linkage l) { return l == linkage::visible; };
    if (strong(how) && strong(at->second.linkage)) fail_twice(name, at->second.module, module);
    if (strong(how)) at->second = {what, module, how};
  }

  [[noreturn]] void fail_twice(std::string const& name, unsigned first, unsigned second) const
  {
    auto const& source = made_.modules[second].name;
    throw failure(fault::duplicate,
                  name + " is defined twice: by " + made_.modules[first].name + " and by " + source,
                  source);
  }

  void resolve_all(unsigned module)
  {
    auto& names = made_.names[module];
    for (auto& [name, what] : names)  // the chosen one of several weak and strong definitions
      if (auto const found = global_.find(name);
          found != global_.end() && !is_local(module, what)) {
        check_definitions(module, what, found->second.what);
        what = found->second.what;
      }
    for (auto const& one : made_.modules[module].functions)
      if (!one.has_body) resolve(module, one);
    for (auto const& one : made_.modules[module].variables)
      if (one.linkage == linkage::external) resolve(module, one);
  }

  [[nodiscard]] bool is_local(unsigned module, entity const& what) const
  {
    if (what.is == entity::kind::function)
      return made_.functions[what.index].what->linkage == linkage::local;
    return what.is == entity::kind::variable && made_.variables[what.index].module == module &&
           made_.variables[what.index].what->linkage == linkage::local;
  }

  void resolve(unsigned module, syntax::function const& declared)
  {
    auto& names = made_.names[module];
    if (auto const own = names.find(declared.name); own != names.end())
      return check_prototype(module, declared, own->second);
    if (auto const found = global_.find(declared.name); found != global_.end()) {
      check_prototype(module, declared, found->second.what);
      names.emplace(declared.name, found->second.what);
    } else if (auto const known = find_builtin(declared.name)) {
      names.emplace(declared.name, entity{entity::kind::builtin, static_cast<unsigned>(*known)});
    }
  }

  void check_definitions(unsigned module, entity const& own, entity const& chosen) const
  {
    auto const is_other = own.is != chosen.is || own.index != chosen.index;
    if (is_other && own.is == entity::kind::function)
      check_prototype(module, *made_.functions[own.index].what, chosen);
  }

  void check_prototype(unsigned module, syntax::function const& declared, entity const& found) const
  {
    auto const& source = made_.modules[module].name;
    if (found.is != entity::kind::function)
      throw failure(fault::prototype,
                    declared.name + " is declared as a function by " + source + " and is none",
                    source, declared.line);
    auto const& [owner, is] = made_.functions[found.index];
    if (same_shape(declared.results, is->results) &&
        same_shape(declared.parameters, is->parameters))
      return;
    throw failure(fault::prototype,
                  "the prototypes differ: " + source +
                      (declared.has_body ? " defines " : " declares ") + prototype_of(declared) +
                      ", " + made_.modules[owner].name + " defines " + prototype_of(*is),
                  made_.modules[owner].name, is->line);
  }

  void resolve(unsigned module, syntax::variable const& declared)
  {
    auto& names = made_.names[module];
    if (names.contains(declared.name)) return;
    auto const found = global_.find(declared.name);
    if (found == global_.end()) {
      if (declared.space == space::shared && declared.count == 0)
        names.emplace(declared.name, entity{entity::kind::dynamic_shared, 0});
      return;
    }
    auto const& source = made_.modules[module].name;
    auto const& what = found->second.what;
    if (what.is != entity::kind::variable ||
        made_.variables[what.index].what->space != declared.space ||
        (declared.count != 0 && made_.variables[what.index].what->bytes() != declared.bytes()))
      throw failure(fault::prototype,
                    source + " and " + made_.modules[found->second.module].name + " disagree on " +
                        declared.name,
                    source, declared.line);
    names.emplace(declared.name, what);
  }

  void check_uses(unsigned module) const
  {
    for (auto const& function : made_.modules[module].functions) {
      auto const tables = tables_of(function);
      for (auto const& one : function.instructions)
        for (auto const& operand : one.operands) check_use(module, tables, one, operand);
    }
    for (auto const& variable : made_.modules[module].variables)
      for (auto const& value : variable.initial)
        if (!value.symbol.empty()) check_name(module, value.symbol, variable.line);
  }

  /// Recursion ends with the parts of operands, which the parser nests four deep at most.
  void check_use(unsigned module, table_names const& tables, syntax::instruction const& at,
                 syntax::operand const& operand) const
  {
    for (auto const& part : operand.parts) check_use(module, tables, at, part);
    if (operand.kind != syntax::operand_kind::symbol || tables.contains(operand.name)) return;
    check_name(module, operand.name, at.line);
  }

  /// Notes how long the argument lists of variadic functions are. A call by address may be of any.
  void measure_calls()
  {
    made_.variadic_bytes.resize(made_.functions.size());
    for (unsigned i = 0; i < made_.functions.size(); ++i)
      if (is_variadic(*made_.functions[i].what)) variadic_.push_back(i);
    if (variadic_.empty()) return;
    for (unsigned i = 0; i < made_.modules.size(); ++i) measure_calls(i);
    for (auto const index : variadic_) note_bytes(index, indirect_bytes_);
  }

  void measure_calls(unsigned module)
  {
    for (auto const& function : made_.modules[module].functions)
      for (auto const& one : function.instructions)
        if (one.name == "call") measure_call(module, function, one);
  }

  void measure_call(unsigned module, syntax::function const& caller, syntax::instruction const& at)
  {
    auto const callee = std::find_if(at.operands.begin(), at.operands.end(), [](auto const& one) {
      return one.kind != syntax::operand_kind::list;
    });
    if (callee == at.operands.end()) return;
    auto const arguments = std::next(callee);
    if (arguments == at.operands.end() || arguments->kind != syntax::operand_kind::list) return;
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
    auto const name = made_.names[module].find(callee.name);
    if (name != made_.names[module].end() && name->second.is == entity::kind::function)
      note_bytes(name->second.index, bytes);
  }

  void note_bytes(unsigned function, std::uint64_t bytes)
  {
    made_.variadic_bytes[function] = std::max(made_.variadic_bytes[function], bytes);
  }

  /// Labels of .branchtargets and .callprototype.
  static table_names tables_of(syntax::function const& in)
  {
    table_names names(in.prototypes.begin(), in.prototypes.end());
    for (auto const& table : in.tables) names.insert(table.name);
    return names;
  }

  void check_name(unsigned module, std::string const& name, unsigned line) const
  {
    if (made_.names[module].contains(name)) return;
    auto const& source = made_.modules[module].name;
    throw failure(fault::unresolved, name + " is used by " + source + " and defined by no input",
                  source, line);
  }

  linked_modules made_;
  std::map<std::string, definition> global_;  // no hash table: an input could provoke collisions
  std::vector<unsigned> variadic_;            ///< functions, by index
  std::uint64_t indirect_bytes_ = 0;          ///< the longest argument list of a call by address
};

}  // namespace

linked_modules link(std::vector<syntax::module> modules)
{
  return symbol_table(std::move(modules)).link();
}

}  // namespace fatlink::interpreter
