// SPDX-License-Identifier: Apache-2.0
// Whether every extern variable is defined, with the size, state space and type it is declared
// with. An lto link says nothing of any of these: it reads zeros, or other bytes.
#include <algorithm>
#include <set>

#include "preflight/finding_limit.hpp"
#include "preflight/interface_queries.hpp"
#include "preflight/symbol_index.hpp"
#include "ptx/ptx_accesses.hpp"
#include "ptx/ptx_variables.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::detail {
namespace {

/// Variables that an input defines and none declares: misspelt ones are among them.
name_search search_unclaimed(symbol_index const& symbols)
{
  std::vector<std::string_view> names;
  for (auto const& group : symbols.groups())
    if (!group.variables.empty() && !group.is_variable_declared)
      names.push_back(group.variables.front().variable->name);
  return name_search(std::move(names));
}

char const* declaration_of(ptx_variable const& variable)
{
  if (variable.is_managed) return "__managed__";
  if (variable.space == "const") return "__constant__";
  return variable.space == "shared" ? "__shared__" : "__device__";
}

std::string advise_on_variable(name_search& unclaimed, symbol_group const& group,
                               ptx_variable const& variable)
{
  for (auto const& function : group.functions)
    return detail::format("{} has a function of that name: define a variable",
                          function.input->file->name());
  if (auto const similar = unclaimed.nearest(variable.name); !similar.empty())
    return detail::format("did you mean {}? Rename the definition to {}", similar, variable.name);
  return detail::format("define it in one of the inputs: {} {}, neither static nor extern",
                        declaration_of(variable), variable.name);
}

finding make_missing_variable(name_search& unclaimed, variable_symbol const& symbol,
                              symbol_group const& group)
{
  auto const& variable = *symbol.variable;
  return {.id = finding_id::missing_variable,
          .severity = severity::error,
          .files = {symbol.input->file->name()},
          .symbol = variable.name,
          .message = detail::format("{} declares {}, which no input defines",
                                    symbol.input->file->name(), to_string(variable)),
          .hint = advise_on_variable(unclaimed, group, variable)};
}

/// A float and an integer. Arrays and structs are bytes, which tell neither.
bool type_kinds_differ(ptx_variable const& a, ptx_variable const& b)
{
  if (a.is_coarse || b.is_coarse) return false;
  if (a.type.starts_with('b') || b.type.starts_with('b')) return false;
  return (kind_of(a.type) == scalar_kind::floating) != (kind_of(b.type) == scalar_kind::floating);
}

/// A definition may be aligned more strictly than its declarations ask, not less. Cubins do not
/// state alignments.
bool is_under_aligned(variable_symbol const& declared, variable_symbol const& counterpart)
{
  if (declared.is_external == counterpart.is_external) return false;
  auto const& definition = *(declared.is_external ? counterpart : declared).variable;
  auto const& declaration = *(declared.is_external ? declared : counterpart).variable;
  return !definition.is_coarse && definition.align < declaration.align;
}

bool types_differ(variable_symbol const& a, variable_symbol const& b)
{
  auto const& variable_a = *a.variable;
  auto const& variable_b = *b.variable;
  if (variable_a.space != variable_b.space) return true;
  auto const is_coarse = variable_a.is_coarse || variable_b.is_coarse;
  if (!is_coarse && variable_a.is_managed != variable_b.is_managed) return true;
  if (is_under_aligned(a, b)) return true;
  if (variable_a.is_unsized || variable_b.is_unsized) return false;
  return bytes_of(variable_a) != bytes_of(variable_b) || type_kinds_differ(variable_a, variable_b);
}

std::string describe_variable(variable_symbol const& symbol, with_alignment alignment)
{
  return detail::format("{} {} {}", symbol.input->file->name(),
                        symbol.is_external         ? "declares"
                        : symbol.variable->is_weak ? "defines the weak default"
                                                   : "defines",
                        to_string(*symbol.variable, alignment));
}

finding make_variable_mismatch(variable_symbol const& a, variable_symbol const& b)
{
  auto const alignment = is_under_aligned(a, b) ? with_alignment::yes : with_alignment::no;
  return {.id = finding_id::signature_mismatch,
          .severity = severity::error,
          .files = {a.input->file->name(), b.input->file->name()},
          .symbol = a.variable->name,
          .message = detail::format("{} and {}", describe_variable(a, alignment),
                                    describe_variable(b, alignment)),
          .hint = "declare and define it with one type, size, alignment and memory space"};
}

/// What the others of the name are compared with: a declaration with a size, else any, else what
/// may be replaced. Null where all are strong: they are duplicates.
variable_symbol const* reference_of(symbol_group const& group)
{
  variable_symbol const* reference = nullptr;
  for (auto const& symbol : group.variables) {
    if (symbol.is_external && !symbol.variable->is_unsized) return &symbol;
    if (symbol.is_external || (reference == nullptr && symbol.variable->is_weak))
      reference = &symbol;
  }
  return reference;
}

/// Names and bytes of all __constant__ variables that others can see, and the files that have some.
struct constant_memory {
  std::set<std::string_view> names;
  std::uint64_t bytes = 0;
  std::vector<std::string> files;

  void add(preflight_input const& input)
  {
    auto is_new = false;
    for (auto const& variable : input.interface.variables) {
      if (variable.space != "const" || !names.insert(variable.name).second) continue;
      bytes += bytes_of(variable);
      is_new = true;
    }
    if (is_new) files.push_back(input.file->name());
  }
};

}  // namespace

void check_constant_memory(preflight_inputs const& inputs, preflight_request const& request,
                           std::vector<finding>& findings)
{
  // These links leave variables out.
  if (request.drop_unused_variables || !request.kernels.empty() || !request.variables.empty())
    return;
  constant_memory constants;
  for (auto const& input : inputs) constants.add(input);
  if (constants.bytes <= limits::k_constant_bytes) return;
  findings.push_back(
      {.id = finding_id::constant_memory,
       .severity = severity::error,
       .files = constants.files,
       .message =
           detail::format("{}: {} bytes of __constant__ variables, above {}, the limit of a "
                          "link",
                          list_names(constants.files), constants.bytes, limits::k_constant_bytes),
       .hint = "make them smaller, or read large ones from global memory (__device__)"});
}

void check_variables(preflight_inputs const& inputs, symbol_index const& symbols,
                     std::vector<finding>& findings)
{
  if (any_lacks_interface(inputs)) return;  // it may define any of them
  auto unclaimed = search_unclaimed(symbols);
  finding_limit missing_variables(findings);
  for (auto const& group : symbols.groups()) {
    if (group.is_variable_defined) continue;
    for (auto const& symbol : group.variables)
      if (!is_dynamic_shared(*symbol.variable))
        missing_variables.add([&] { return make_missing_variable(unclaimed, symbol, group); });
  }
  missing_variables.finish();
}

void check_variable_types(symbol_index const& symbols, std::vector<finding>& findings)
{
  finding_limit mismatches(findings);
  for (auto const& group : symbols.groups()) {
    auto const* reference = reference_of(group);
    if (reference == nullptr) continue;
    for (auto const& symbol : group.variables)
      if (&symbol != reference && types_differ(*reference, symbol))
        mismatches.add([&] { return make_variable_mismatch(*reference, symbol); });
  }
  mismatches.finish();
}

}  // namespace fatlink::detail
