// SPDX-License-Identifier: Apache-2.0
// Functions and variables by name: the index of what the inputs declare and define; missing-hook,
// missing-variable, duplicate-symbol, constant-memory. Of variables an lto link reports nothing:
// where one is not defined, or is declared with another size, state space or type, it reads zeros,
// or other bytes.
#include "preflight/symbols.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "fatbin/ident.hpp"
#include "input/input_forms.hpp"
#include "preflight/findings.hpp"
#include "preflight/rules.hpp"
#include "ptx/ptx_accesses.hpp"
#include "ptx/ptx_source.hpp"
#include "util/limits.hpp"
#include "util/process/immortal.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::detail {
namespace {

bool lacks_interface(preflight_input const& input)
{
  if (input.is_opaque) return true;
  auto const& entries = input.file->entries();
  return std::all_of(entries.begin(), entries.end(),
                     [](auto const& entry) { return entry.kind == entry_kind::ltoir; });
}

}  // namespace

bool symbol_group::has(symbol_role role, preflight_input const& input) const
{
  return std::any_of(uses.begin(), uses.end(), [&](symbol_use const& use) {
    return use.role == role && use.input == &input;
  });
}

bool symbol_group::is_in_other(preflight_input const& input) const
{
  return !uses.empty() && (uses.front().input != &input || uses.back().input != &input);
}

bool symbol_group::has_other(symbol_role role, preflight_input const& input) const
{
  auto const& having = of(role);
  return having.inputs > 1 || (having.inputs == 1 && having.first != &input);
}

bool symbol_group::is_called(symbol_role role, preflight_input const& definer) const
{
  return has_other(symbol_role::hook, definer) ||
         (role == symbol_role::definition && has_other(symbol_role::weak_definition, definer));
}

void symbol_group::add_use(preflight_input const& input, symbol_role role)
{
  for (auto use = uses.rbegin(); use != uses.rend() && use->input == &input; ++use)
    if (use->role == role) return;
  uses.push_back({&input, role});
  auto& having = roles_[static_cast<std::size_t>(role)];
  if (having.inputs++ == 0) having.first = &input;
}

symbol_index::symbol_index(preflight_inputs const& inputs)
{
  for (auto const& input : inputs) {
    auto const& interface = input.interface;
    add_functions(input, interface.hooks, symbol_role::hook);
    add_functions(input, interface.kernels, symbol_role::kernel);
    add_functions(input, interface.definitions, symbol_role::definition);
    add_functions(input, interface.weak, symbol_role::weak_definition);
    add_variables(input, interface.external_variables, true);
    add_variables(input, interface.variables, false);
  }
}

symbol_group const& symbol_index::find(std::string_view name) const
{
  static immortal<symbol_group const> const empty;
  auto const position = positions_.find(name);
  return position == positions_.end() ? empty.get() : groups_[position->second];
}

symbol_group& symbol_index::group(std::string_view name)
{
  auto const [position, inserted] = positions_.emplace(name, groups_.size());
  if (inserted) groups_.emplace_back();
  return groups_[position->second];
}

void symbol_index::add_functions(preflight_input const& input,
                                 std::vector<ptx_function> const& functions, symbol_role role)
{
  for (auto const& function : functions) {
    auto& symbols = group(function.name);
    symbols.functions.push_back({&input, role, &function});
    symbols.add_use(input, role);
  }
}

void symbol_index::add_variables(preflight_input const& input,
                                 std::vector<ptx_variable> const& variables, bool is_external)
{
  for (auto const& variable : variables) {
    auto& symbols = group(variable.name);
    symbols.variables.push_back({&input, is_external, &variable});
    (is_external ? symbols.is_variable_declared : symbols.is_variable_defined) = true;
  }
}

namespace {

/// Whether `group` holds a function definition, weak ones included; kernels are none.
bool is_function_defined(symbol_group const& group)
{
  return group.has(symbol_role::definition) || group.has(symbol_role::weak_definition);
}

/// Whether neither PTX nor SASS describes an input: LTO-IR shows no symbols, so it may define any
/// name.
bool any_lacks_interface(preflight_inputs const& inputs)
{
  return std::any_of(inputs.begin(), inputs.end(), lacks_interface);
}

}  // namespace

bool is_connected(symbol_index const& symbols, preflight_input const& input)
{
  auto const any = [&](std::vector<ptx_function> const& functions, auto const& condition) {
    return std::any_of(functions.begin(), functions.end(), [&](ptx_function const& function) {
      return condition(symbols.find(function.name));
    });
  };
  auto const is_called = [&](symbol_role role) {
    return [&input, role](symbol_group const& group) { return group.is_called(role, input); };
  };
  auto const is_defined = [&](symbol_group const& group) {
    return group.has_other(symbol_role::definition, input) ||
           group.has_other(symbol_role::weak_definition, input);
  };
  auto const is_replaced = [&](symbol_group const& group) {
    return group.has_other(symbol_role::definition, input);
  };
  auto const& interface = input.interface;
  return any(interface.definitions, is_called(symbol_role::definition)) ||
         any(interface.weak, is_called(symbol_role::weak_definition)) ||
         any(interface.hooks, is_defined) || any(interface.weak, is_replaced);
}

std::set<std::string> weak_hooks(fatbin const& module, entry_choice const& choice)
{
  std::set<std::string> hooks;
  auto const& ident = module.ident();
  if (!ident) return hooks;
  for (auto const& function : interface_of(module, choice).weak)
    if (ident->hooks.contains(function.name)) hooks.insert(function.name);
  return hooks;
}

std::set<std::string> default_hooks(std::span<fatbin const> modules, entry_choice const& choice)
{
  std::set<std::string> hooks;
  if (std::ranges::any_of(modules, [&](auto const& module) { return is_opaque(module, choice); }))
    return hooks;
  std::map<std::string, std::size_t> definitions;
  for (auto const& module : modules) {
    hooks.merge(weak_hooks(module, choice));
    auto const& interface = interface_of(module, choice);
    for (auto const* functions : {&interface.definitions, &interface.weak})
      for (auto const& function : *functions) ++definitions[function.name];
  }
  std::erase_if(hooks, [&](std::string const& hook) { return definitions[hook] > 1; });
  return hooks;
}

namespace {

// What the CUDA driver defines: CUDA C++ Programming Guide, "Formatted Output", "Assertion",
// "Dynamic Global Memory Allocation".
constexpr std::array<std::string_view, 4> k_system{"vprintf", "__assertfail", "malloc", "free"};

bool is_upper(char letter)
{
  return letter >= 'A' && letter <= 'Z';
}

/// What libcudadevrt.a calls in the driver: cnpGetLastError, __cuda_syscall_CGS_sync.
bool is_called_by_device_runtime(std::string_view name)
{
  constexpr std::string_view k_prefix = "cnp";
  return name.starts_with("__cuda_syscall_") ||
         (name.starts_with(k_prefix) && name.size() > k_prefix.size() &&
          is_upper(name[k_prefix.size()]));
}

/// What libcudadevrt.a defines: cudaGetLastError, __cudaCDP2LaunchDeviceV2. (In CUDA 13.0 all that
/// it defines for others begins so.)
bool is_of_device_runtime(std::string_view name)
{
  constexpr std::string_view k_prefix = "cuda";
  if (name.starts_with("__cuda")) name.remove_prefix(2);
  return name.starts_with(k_prefix) && name.size() > k_prefix.size() &&
         is_upper(name[k_prefix.size()]);
}

}  // namespace

bool is_system_function(std::string_view name)
{
  return std::find(k_system.begin(), k_system.end(), name) != k_system.end() ||
         is_called_by_device_runtime(name);
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

/// "f(int)" for "_Z1fi"; a name that is not mangled, or is above a limit, as it is.
std::string declaration_of(std::string const& name)
{
  auto declaration = demangle(name);
  return declaration.empty() ? name : declaration;
}

std::string advise_on_hook(preflight_inputs const& inputs, symbol_index const& symbols,
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
          "{} defines {} only for itself: compile it with -rdc=true or -dlto, and without static; "
          "in PTX, declare it .visible",
          input.file->name(), hook.name);
  if (is_of_device_runtime(hook.name))
    return "the CUDA Toolkit's device runtime defines it: also pass its libcudadevrt.a, and link "
           "in sass mode (<link_mode::sass>), or in lto mode (<link_mode::lto>) and <set "
           "link_options::allow_calls>";
  if (hook.name == "__assert_fail") return "call __assertfail, which the driver provides";
  auto const mangled =
      definitions.find_prefix(detail::format("_Z{}{}", hook.name.size(), hook.name));
  auto const similar = mangled.empty() ? definitions.nearest(hook.name) : mangled;
  if (similar.starts_with("_Z"))
    return hook.name.starts_with("_Z")
               ? detail::format("define {}, not {}", declaration_of(hook.name),
                                declaration_of(std::string(similar)))
               : detail::format("{} is its C++ name: declare the definition extern \"C\"", similar);
  if (!similar.empty())
    return detail::format("did you mean {}? Rename the definition to {}", similar, hook.name);
  auto const advice = detail::format("pass a transform that defines {}", hook.name);
  if (inputs.size() < 2) return advice;
  return advice + "; inline and static definitions do not count, because nvcc removes them";
}

finding make_missing_hook(preflight_inputs const& inputs, symbol_index const& symbols,
                          name_search& definitions, preflight_input const& library,
                          ptx_function const& hook)
{
  return missing_hook(library.file->name(), hook.name, to_string(hook),
                      advise_on_hook(inputs, symbols, definitions, hook));
}

}  // namespace

finding missing_hook(std::string const& file, std::string const& name, std::string const& shown,
                     std::string hint)
{
  return {.id = finding_id::missing_hook,
          .severity = severity::error,
          .files = {file},
          .symbol = name,
          .message = detail::format("{} calls {}, which is defined by no input", file, shown),
          .hint = std::move(hint)};
}

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
      if (hook.is_unused || is_system_function(hook.name) || is_function_defined(group) ||
          group.has(symbol_role::kernel))
        continue;
      missing_hooks.add(
          [&] { return make_missing_hook(inputs, symbols, definitions, input, hook); });
    }
  missing_hooks.finish();
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

namespace {

/// The command that removes the member: "ar d lib.a b.o", "ar dN 2 lib.a b.o".
std::string removal(module_name const& member)
{
  return member.count.empty()
             ? detail::format("ar d {} {}", member.file, member.member)
             : detail::format("ar dN {} {} {}", member.count, member.file, member.member);
}

/// `a` and `b` differ.
std::string advise_removal(std::string const& a, std::string const& b)
{
  auto const first = parse_module_name(a);
  auto const second = parse_module_name(b);
  auto const& member = second.member.empty() ? first : second;
  if (member.member.empty()) return "pass one of the two";
  if (first.file == second.file)
    return detail::format("remove one of the two from the archive: {}", removal(member));
  return detail::format("pass one of the two, or remove a member from its archive: {}",
                        removal(member));
}

}  // namespace

finding duplicate_symbol(std::string const& name, std::string const& a, std::string const& b,
                         bool is_hook)
{
  auto const is_twice = a == b;
  auto const file = parse_module_name(a).file;
  return {.id = finding_id::duplicate_symbol,
          .severity = severity::error,
          .files = {a, b},
          .symbol = name,
          .message = is_twice ? detail::format("{} is defined by {}, and {} is passed twice", name,
                                               a, file)
                              : detail::format("{} is defined by {} and by {}", name, a, b),
          .hint = is_twice  ? detail::format("pass {} once", file)
                  : is_hook ? advise_removal(a, b)
                            : advise_removal(a, b) + ", or declare private definitions static"};
}

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
