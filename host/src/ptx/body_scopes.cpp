// SPDX-License-Identifier: Apache-2.0
#include "ptx/body_scopes.hpp"

#include "util/limits.hpp"

namespace fatlink::ptx {
namespace {

constexpr std::uint64_t k_max_registers = std::uint64_t{1} << 24;
constexpr std::size_t k_max_digits = 8;  ///< of a register's number

}  // namespace

body_scopes::body_scopes(token_reader const& reader, syntax::function& function)
    : reader_(reader), function_(function)
{
  scopes_.emplace_back();
  for (auto const* list : {&function.results, &function.parameters})
    for (auto const& variable : *list) declare_parameter(variable);
}

void body_scopes::open()
{
  if (scopes_.size() == limits::k_scope_depth)
    reader_.refuse("bodies with braces nested deeper than " +
                   std::to_string(limits::k_scope_depth));
  scopes_.emplace_back();
}

syntax::operand& body_scopes::operand_of(label_use use)
{
  return use.in_table ? function_.tables[use.owner].labels[use.operand]
                      : function_.instructions[use.owner].operands[use.operand];
}

void body_scopes::close()
{
  auto const closed = std::move(scopes_.back());
  scopes_.pop_back();
  for (auto const& use : closed.label_uses) {
    auto& operand = operand_of(use);
    if (auto const label = closed.labels.find(operand.name); label != closed.labels.end()) {
      operand.kind = syntax::operand_kind::label;
      operand.index = label->second;
    } else if (!scopes_.empty()) {
      scopes_.back().label_uses.push_back(use);
    }
  }
}

void body_scopes::declare(syntax::variable const& variable)
{
  scopes_.back().names[variable.name] = {
      .is_register = false, .index = static_cast<unsigned>(function_.variables.size())};
  function_.variables.push_back(variable);
}

/// The body has a parameter in .reg as a register; it is passed as a variable.
void body_scopes::declare_parameter(syntax::variable const& variable)
{
  auto const index = static_cast<unsigned>(function_.variables.size());
  declare(variable);
  if (!variable.in_register) return;
  declare_register(variable.name, {variable.is_predicate ? type::pred : variable.type,
                                   static_cast<unsigned>(variable.count)});
  function_.register_parameters.push_back(
      {.variable = index, .register_ = scopes_.back().names[variable.name].index});
}

void body_scopes::declare_register(std::string const& name, register_type type)
{
  scopes_.back().names[name] = add_register(name, type);
}

void body_scopes::declare_registers(std::string const& prefix, std::uint64_t count,
                                    register_type type)
{
  scopes_.back().ranges[prefix] = {count, type};
}

body_scopes::declared_name body_scopes::add_register(std::string const& name, register_type type)
{
  if (function_.registers.size() >= k_max_registers)
    reader_.fail("more than " + std::to_string(k_max_registers) + " registers in a function");
  auto const index = static_cast<unsigned>(function_.registers.size());
  for (unsigned i = 0; i < type.lanes; ++i) function_.registers.push_back({name, type.type});
  return {.is_register = true, .index = index, .lanes = type.lanes};
}

void body_scopes::define_label(std::string const& name)
{
  auto const instruction = static_cast<unsigned>(function_.instructions.size());
  if (!scopes_.back().labels.emplace(name, instruction).second)
    reader_.fail("label " + name + " is defined twice");
}

std::optional<body_scopes::declared_name> body_scopes::find(std::string const& name)
{
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (auto const declaration = find_in(*scope, name)) return declaration;
  return {};
}

std::optional<body_scopes::declared_name> body_scopes::find_in(scope_names& scope,
                                                               std::string const& name)
{
  if (auto const entry = scope.names.find(name); entry != scope.names.end()) return entry->second;
  auto const digits = name.find_last_not_of("0123456789") + 1;
  if (digits == 0 || digits >= name.size() || name.size() - digits > k_max_digits) return {};
  auto const range = scope.ranges.find(name.substr(0, digits));
  if (range == scope.ranges.end()) return {};
  if (name[digits] == '0' && name.size() > digits + 1) return {};
  if (std::stoul(name.substr(digits)) >= range->second.count) return {};
  auto const added = add_register(name, range->second.type);
  scope.names[name] = added;
  return added;
}

}  // namespace fatlink::ptx
