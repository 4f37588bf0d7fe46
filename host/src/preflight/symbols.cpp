// SPDX-License-Identifier: Apache-2.0
// Whether every hook is defined once, and all that the inputs say of one name is of one type.
#include <algorithm>
#include <array>
#include <map>

#include "preflight/finding_limit.hpp"
#include "preflight/function_types.hpp"
#include "preflight/interface_queries.hpp"
#include "preflight/symbol_index.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::detail {
namespace {

// What the CUDA device runtime defines itself: CUDA C++ Programming Guide, "Formatted Output",
// "Assertion", "Dynamic Global Memory Allocation".
constexpr std::array<std::string_view, 5> k_system{"vprintf", "__assertfail", "malloc", "free",
                                                   "__assert_fail"};

}  // namespace

bool is_system_function(std::string_view name)
{
  return std::find(k_system.begin(), k_system.end(), name) != k_system.end();
}

namespace {

/// The definitions that fill no hook.
name_search search_definitions(preflight_inputs const& inputs, symbol_index const& symbols)
{
  std::vector<std::string_view> names;
  for (auto const& input : inputs)
    for (auto const& function : input.interface.definitions)
      if (!symbols.find(function.name).has(symbol_role::hook)) names.push_back(function.name);
  return name_search(std::move(names), name_search::prefixes::are_compared);
}

std::string missing_hint(preflight_inputs const& inputs, symbol_index const& symbols,
                         name_search& definitions, ptx_function const& hook)
{
  auto const& group = symbols.find(hook.name);
  for (auto const& variable : group.variables)
    return detail::format("{} {} a variable of that name: define a function",
                          variable.input->file->name(),
                          variable.is_external ? "declares" : "defines");
  for (auto const& input : inputs)
    if (hides(input.interface, hook.name))
      return detail::format(
          "{} defines {} for itself only: compile it with -rdc=true or -dlto, and without static; "
          "in PTX, declare it .visible",
          input.file->name(), hook.name);
  auto const mangled =
      definitions.find_prefix(detail::format("_Z{}{}", hook.name.size(), hook.name));
  auto const similar = mangled.empty() ? definitions.nearest(hook.name) : mangled;
  if (similar.starts_with("_Z"))
    return detail::format("{} is its C++ name: declare the definition extern \"C\"", similar);
  if (!similar.empty())
    return detail::format("did you mean {}? Rename the definition to {}", similar, hook.name);
  auto const advice = detail::format("pass a transform that defines {}", hook.name);
  if (inputs.size() < 2) return advice;
  return advice + "; a definition that is inline or static does not count, nvcc removes it";
}

finding missing(preflight_inputs const& inputs, symbol_index const& symbols,
                name_search& definitions, preflight_input const& library, ptx_function const& hook)
{
  return {.id = finding_id::missing_hook,
          .severity = severity::error,
          .files = {library.file->name()},
          .symbol = hook.name,
          .message = detail::format("{} calls {}, which is defined by no input",
                                    library.file->name(), to_string(hook)),
          .hint = missing_hint(inputs, symbols, definitions, hook)};
}

char const* verb_of(symbol_role role)
{
  switch (role) {
    case symbol_role::hook:
      return "declares";
    case symbol_role::weak_definition:
      return "defines the weak default";
    case symbol_role::kernel:
      return "defines the kernel";
    case symbol_role::definition:
      break;
  }
  return "defines";
}

std::string mismatch_hint(function_symbol const& a, function_symbol const& b)
{
  if ((a.role == symbol_role::kernel) != (b.role == symbol_role::kernel))
    return "a kernel is not a device function: rename one of the two";
  if (to_string(*a.function) == to_string(*b.function) &&
      a.function->parameters == b.function->parameters)
    return "define it with the type that the library declares; if it uses the bits of a float on "
           "purpose, build both with one contract (fatlink_add_fatbin(… CONTRACT …))";
  if (a.role == symbol_role::hook)
    return "define it with the type that the library's contract declares";
  return detail::format("define it with the type of {}'s, or rename one of the two",
                        a.input->file->name());
}

finding mismatch(function_symbol const& a, function_symbol const& b)
{
  auto const [own, other] = describe_types(*a.function, *b.function);
  return {.id = finding_id::signature_mismatch,
          .severity = severity::error,
          .files = {a.input->file->name(), b.input->file->name()},
          .symbol = a.function->name,
          .message = detail::format("{} {} {} and {} {} {}", a.input->file->name(), verb_of(a.role),
                                    own, b.input->file->name(), verb_of(b.role), other),
          .hint = mismatch_hint(a, b)};
}

finding uncertain(function_symbol const& a, function_symbol const& b)
{
  auto const [own, other] = describe_types(*a.function, *b.function);
  return {
      .id = finding_id::uncertain_type,
      .severity = severity::warning,
      .files = {a.input->file->name(), b.input->file->name()},
      .symbol = a.function->name,
      .message = detail::format(
          "{} uses {} and {} uses {}: another type, or the bits of the same one; int and float "
          "of one width cannot be told apart here",
          a.input->file->name(), own, b.input->file->name(), other),
      .hint = "build both with one contract (fatlink_add_fatbin(… CONTRACT …)), which checks it"};
}

/// Whether the caller states the types and the definition, in a cubin, does not: ptxas states those
/// of all that it defines, except for functions whose address is taken. A damaged cubin looks
/// alike.
bool lacks_types(function_symbol const& hook, function_symbol const& definition)
{
  return hook.role == symbol_role::hook && definition.role != symbol_role::hook &&
         !hook.function->is_untyped && definition.function->is_untyped;
}

finding unchecked(function_symbol const& hook, function_symbol const& definition)
{
  return {
      .id = finding_id::unchecked_types,
      .severity = severity::error,
      .files = {hook.input->file->name(), definition.input->file->name()},
      .symbol = hook.function->name,
      .message = detail::format("{} declares {}, and the SASS of {} does not state the types of {}",
                                hook.input->file->name(), to_string(*hook.function),
                                definition.input->file->name(), hook.function->name),
      .hint =
          "compile it again (nvcc -cubin -rdc=true), without taking the address of the "
          "function in it, or pass it as PTX or LTO-IR; a damaged file looks alike"};
}

bool is_strong(function_symbol const& symbol)
{
  return symbol.role == symbol_role::definition ||
         (symbol.role == symbol_role::kernel && !symbol.function->is_weak);
}

/// What all others of the name are compared with: a library's declaration, else what may be
/// replaced. Null where all are strong: they are duplicates.
function_symbol const* reference_of(symbol_group const& group)
{
  for (auto const& symbol : group.functions)
    if (symbol.role == symbol_role::hook) return &symbol;
  for (auto const& symbol : group.functions)
    if (!is_strong(symbol)) return &symbol;
  return nullptr;
}

void compare(function_symbol const& a, function_symbol const& b, finding_limit& mismatches,
             finding_limit& uncertainties)
{
  auto const kernel_and_function =
      (a.role == symbol_role::kernel) != (b.role == symbol_role::kernel);
  auto const agreement = kernel_and_function ? type_agreement::different : compare_types(a, b);
  if (agreement == type_agreement::different) mismatches.add([&] { return mismatch(a, b); });
  if (agreement == type_agreement::uncertain) uncertainties.add([&] { return uncertain(a, b); });
}

}  // namespace

void check_hooks(preflight_inputs const& inputs, symbol_index const& symbols,
                 std::vector<finding>& findings)
{
  // LTO-IR does not show symbols, so an input that holds nothing else may define any hook.
  if (any_lacks_interface(inputs)) return;
  auto definitions = search_definitions(inputs, symbols);
  finding_limit missing_hooks(findings);
  for (auto const& input : inputs)
    for (auto const& hook : input.interface.hooks) {
      auto const& group = symbols.find(hook.name);
      if (is_system_function(hook.name) || is_function_defined(group) ||
          group.has(symbol_role::kernel))
        continue;
      missing_hooks.add([&] { return missing(inputs, symbols, definitions, input, hook); });
    }
  missing_hooks.finish();
}

void check_function_types(symbol_index const& symbols, std::vector<finding>& findings)
{
  finding_limit mismatches(findings);
  std::vector<finding> uncertain_types;
  finding_limit uncertainties(uncertain_types);
  finding_limit untyped(findings);
  for (auto const& group : symbols.groups()) {
    auto const* reference = reference_of(group);
    if (reference == nullptr || is_system_function(reference->function->name)) continue;
    for (auto const& symbol : group.functions) {
      if (&symbol != reference) compare(*reference, symbol, mismatches, uncertainties);
      if (lacks_types(*reference, symbol))
        untyped.add([&] { return unchecked(*reference, symbol); });
    }
  }
  mismatches.finish();
  untyped.finish();
  uncertainties.finish();
  std::move(uncertain_types.begin(), uncertain_types.end(), std::back_inserter(findings));
}

void check_duplicates(preflight_inputs const& inputs, symbol_index const& symbols,
                      std::vector<finding>& findings)
{
  std::map<std::string_view, fatbin const*> definers;
  finding_limit duplicates(findings);
  auto const add = [&](std::string const& name, fatbin const& file, bool is_shared_name) {
    auto const insertion = definers.emplace(name, &file);
    auto const& definer = *insertion.first->second;
    if (!insertion.second)
      duplicates.add(
          [&] { return duplicate_symbol(name, definer.name(), file.name(), is_shared_name); });
  };
  for (auto const& input : inputs) {
    for (auto const& kernel : input.interface.kernels)
      if (!kernel.is_weak) add(kernel.name, *input.file, true);
    for (auto const& function : input.interface.definitions)
      add(function.name, *input.file, symbols.find(function.name).has(symbol_role::hook));
    for (auto const& variable : input.interface.variables)
      if (!variable.is_weak) add(variable.name, *input.file, false);
  }
  duplicates.finish();
}

}  // namespace fatlink::detail
