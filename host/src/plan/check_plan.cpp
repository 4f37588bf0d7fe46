// SPDX-License-Identifier: Apache-2.0
#include "plan/check_plan.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "fatlink/error.hpp"
#include "plan/bind_types.hpp"
#include "preflight/findings.hpp"
#include "preflight/symbols.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::detail {

launch_plan library_plan(input const& library)
{
  if (auto plan = launch_plan::beside(library)) return std::move(*plan);
  throw file_error(
      stage::sidecar,
      {.message = detail::format("{}: no .json beside it states a launch plan", library.name()),
       .input = library.name(),
       .code = error_code::invalid_plan,
       .hint = "build the library with fatlink_add_fatbin(… PLAN file.json), or launch its kernels "
               "yourself: <link_and_load>"});
}

std::vector<std::string> kernels_to_keep(launch_plan const& plan, std::vector<input> const& inputs)
{
  auto launched = plan.kernels();
  std::size_t shown = 0;
  for (auto const& input : inputs)
    for (auto const& module : input.modules())
      for (auto const& kernel : interface_of_any(module).kernels) {
        if (std::ranges::find(launched, kernel.name) == launched.end()) return launched;
        ++shown;
      }
  if (shown == 0) return launched;  // the inputs do not show their kernels
  return {};
}

namespace {

/// A hook that a plan names, and where: "computes.out".
struct named_hook {
  std::string name;
  std::string place;
};

bool names_hook(computation const& node)
{
  return node.kind != operation::argument && node.kind != operation::index &&
         node.kind != operation::neighbor && node.kind != operation::low_bits;
}

void add_hooks(computation const& node, std::string const& place, std::vector<named_hook>& hooks)
{
  if (names_hook(node)) hooks.push_back({node.name, place});
  for (auto const& operand : node.operands) add_hooks(operand, place, hooks);
}

std::vector<named_hook> hooks_named_by(launch_plan const& plan)
{
  std::vector<named_hook> hooks;
  for (std::size_t i = 0; i < plan.arguments.size(); ++i)
    if (!plan.arguments[i].hook.empty())
      hooks.push_back({plan.arguments[i].hook, detail::format("arguments[{}].hook", i)});
  for (auto const& result : plan.results)
    add_hooks(result.value, detail::format("computes.{}", result.output), hooks);
  return hooks;
}

/// What a plan may name: hooks of contracts, and functions that PTX calls or defines.
struct known_hooks {
  std::set<std::string> contract;
  std::set<std::string> functions;
  bool is_complete = true;

  void add(fatbin const& module)
  {
    if (auto const& ident = module.ident())
      for (auto const& [hook, type] : ident->hooks) contract.insert(hook);
    auto is_seen = false;
    for (auto const& entry : module.entries()) {
      if (!shows_interface(entry)) continue;
      add(module.interface(entry));
      is_seen = true;
    }
    is_complete = is_complete && is_seen;
  }

  void add(ptx_interface const& interface)
  {
    for (auto const* list : {&interface.hooks, &interface.definitions, &interface.weak})
      for (auto const& function : *list)
        if (!is_system_function(function.name)) functions.insert(function.name);
  }

  [[nodiscard]] bool contains(std::string const& name) const
  {
    return contract.contains(name) || functions.contains(name);
  }
};

finding unknown_hook(launch_plan const& plan, named_hook const& hook, known_hooks const& known,
                     std::string const& files)
{
  auto names = known.contract.empty() ? known.functions : known.contract;
  std::vector<std::string> const list(names.begin(), names.end());
  auto const similar = nearest(list, hook.name);
  return {.id = finding_id::plan_mismatch,
          .severity = severity::error,
          .files = {files, plan.file},
          .symbol = hook.name,
          .message = detail::format("{}: {}: {} is not a hook of {}", plan.file, hook.place,
                                    hook.name, files),
          .hint = list.empty() ? "declare the hook in the library's code or its contract"
                               : detail::format("{}the hooks are: {}",
                                                similar.empty()
                                                    ? std::string{}
                                                    : detail::format("did you mean {}? ", similar),
                                                list_names(list))};
}

/// The arrays of the plan whose elements a hook handles.
using hook_arrays = std::map<std::string, std::vector<plan_argument const*>, std::less<>>;

/// Sizes, states and values of a type of their own are no elements.
bool has_elements(plan_argument const& argument)
{
  switch (argument.role) {
    case argument_role::size:
    case argument_role::state:
      return false;
    case argument_role::value:
      return !argument.type;
    default:
      return true;
  }
}

void add_operands(launch_plan const& plan, computation const& node, hook_arrays& arrays)
{
  for (auto const& operand : node.operands) {
    auto const is_element =
        operand.kind == operation::argument || operand.kind == operation::neighbor;
    auto const& array = operand.kind == operation::neighbor && !operand.operands.empty()
                            ? operand.operands.front().name
                            : operand.name;
    if (auto const* const argument = is_element ? plan.find(array) : nullptr;
        argument != nullptr && has_elements(*argument) && names_hook(node))
      arrays[node.name].push_back(argument);
    add_operands(plan, operand, arrays);
  }
}

/// Whether the results are numbers or indexes of elements, not elements that the hook handles.
bool counts_elements(operation kind)
{
  switch (kind) {
    case operation::histogram:
    case operation::count:
    case operation::count_equal:
    case operation::unique_count:
    case operation::run_lengths:
    case operation::lower_bound:
    case operation::upper_bound:
      return true;
    default:
      return false;
  }
}

hook_arrays arrays_of_hooks(launch_plan const& plan)
{
  hook_arrays arrays;
  for (auto const& result : plan.results) {
    add_operands(plan, result.value, arrays);
    if (auto const* const output = plan.find(result.output);
        output != nullptr && names_hook(result.value) && !counts_elements(result.value.kind))
      arrays[result.value.name].push_back(output);
  }
  return arrays;
}

/// Whether elements of both types are the same: records are compared by size, because an ident
/// states their names and sizes only.
bool agree(element_type const& stated, element_type const& recorded)
{
  auto const is_number = [](element_type const& type) {
    return type.kind != scalar_kind::bytes && type.kind != scalar_kind::record;
  };
  return is_number(stated) && is_number(recorded) ? stated == recorded
                                                  : stated.size == recorded.size;
}

/// What a module records for a hook.
struct recorded_element {
  fatbin const* module;
  std::string hook;
  element_type type;
};

/// The records that count, as elements_of() has them.
std::vector<recorded_element> counted_records(std::span<fatbin const> modules)
{
  std::vector<recorded_element> records;
  for (auto const& module : modules)
    for (auto const& element : elements_of(std::span(&module, 1))) {
      std::erase_if(records, [&](auto const& earlier) { return earlier.hook == element.first; });
      records.push_back({&module, element.first, element.second});
    }
  auto const counted = elements_of(modules);
  std::erase_if(records, [&](auto const& record) { return !counted.contains(record.hook); });
  return records;
}

std::optional<finding> compare_arrays(launch_plan const& plan, recorded_element const& record,
                                      std::vector<plan_argument const*> const& arrays)
{
  auto const fits = [&](plan_argument const* array) {
    return !array->type || agree(*array->type, record.type);
  };
  if (arrays.empty() || std::ranges::any_of(arrays, fits)) return std::nullopt;
  return finding{
      .id = finding_id::element_mismatch,
      .severity = severity::error,
      .files = {record.module->name(), plan.file},
      .symbol = record.hook,
      .message = detail::format("{} records {} for the elements of {}, and {} states {} for {}",
                                record.module->name(), to_string(record.type), record.hook,
                                plan.file, to_string(*arrays.front()->type), arrays.front()->name),
      .hint = "pass a transform for the type that the plan states"};
}

/// Whether the plan has an array or value of the type that all transforms bind.
bool has_common_type(launch_plan const& plan)
{
  return std::ranges::any_of(plan.arguments, [](plan_argument const& argument) {
    return has_elements(argument) && !argument.type && argument.hook.empty();
  });
}

finding different_elements(recorded_element const& a, recorded_element const& b)
{
  return {
      .id = finding_id::element_mismatch,
      .severity = severity::error,
      .files = {a.module->name(), b.module->name()},
      .symbol = b.hook,
      .message = detail::format(
          "{} records {} for the elements of {}, and {} records {} for those of {}",
          a.module->name(), to_string(a.type), a.hook, b.module->name(), to_string(b.type), b.hook),
      .hint = "pass transforms for one type of elements, which the plan requires"};
}

}  // namespace

std::vector<finding> check_plan_hooks(launch_plan const& plan, std::span<fatbin const> modules)
{
  known_hooks known;
  std::vector<std::string> files;
  for (auto const& module : modules) {
    known.add(module);
    files.push_back(module.name());
  }
  std::vector<finding> findings;
  if (!known.is_complete) return findings;
  std::set<std::string> reported;
  for (auto const& hook : hooks_named_by(plan))
    if (!known.contains(hook.name) && reported.insert(hook.name).second)
      findings.push_back(unknown_hook(plan, hook, known, list_names(files)));
  return findings;
}

std::vector<finding> check_elements(launch_plan const& plan, std::span<fatbin const> modules)
{
  std::vector<finding> findings;
  auto const records = counted_records(modules);
  auto const arrays = arrays_of_hooks(plan);
  for (auto const& record : records)
    if (auto const of_hook = arrays.find(record.hook); of_hook != arrays.end())
      if (auto found = compare_arrays(plan, record, of_hook->second))
        findings.push_back(std::move(*found));
  if (!has_common_type(plan)) return findings;
  for (auto const& record : records)
    if (!(record.type == records.front().type))
      findings.push_back(different_elements(records.front(), record));
  return findings;
}

namespace {

constexpr std::size_t k_pointer_bytes = 8;
constexpr char const* k_correct_arguments =
    "correct \"arguments\" of this launch: state the kernel's parameters, in their order";

/// A kernel and the module that has it.
struct module_kernel {
  ptx_function const* function = nullptr;
  fatbin const* module = nullptr;
};

/// The kernels of the modules.
struct kernel_list {
  std::vector<module_kernel> kernels = {};
  bool is_complete = true;  ///< no module has kernels that cannot be seen

  void add(ptx_interface const& interface, fatbin const& module)
  {
    for (auto const& kernel : interface.kernels) kernels.push_back({&kernel, &module});
  }
};

void add_module(kernel_list& list, fatbin const& module, std::optional<entry_choice> const& choice)
{
  if (choice) {
    list.add(interface_of(module, *choice), module);
    if (is_opaque(module, *choice)) list.is_complete = false;
    return;
  }
  auto is_seen = false;
  for (auto const& entry : module.entries()) {
    if (!shows_interface(entry)) continue;
    list.add(module.interface(entry), module);
    is_seen = true;
  }
  if (!is_seen) list.is_complete = false;
}

bool is_pointer(argument_role role)
{
  return role != argument_role::size && role != argument_role::value;
}

/// The bytes that are passed; nothing where the element's type is not known.
std::optional<std::size_t> passed_bytes(launch_plan const& plan, launch_argument const& passed,
                                        std::optional<element_type> const& element)
{
  auto const* const argument = plan.find(passed.argument);
  if (argument == nullptr) return passed.type.size;
  if (is_pointer(argument->role)) return k_pointer_bytes;
  auto const& type = argument->type ? argument->type : element;
  return type ? std::optional(type->size) : std::nullopt;
}

std::string describe_argument(launch_plan const& plan, launch_argument const& passed)
{
  auto const* const argument = plan.find(passed.argument);
  if (argument == nullptr)
    return detail::format("{}: {}", printable_line(passed.formula), to_string(passed.type));
  auto const type = is_pointer(argument->role) ? "pointer"
                    : argument->type           ? to_string(*argument->type)
                                               : "element";
  return detail::format("{}: {}", argument->name, type);
}

/// How arguments and parameters of `sizes` bytes differ: "5 arguments for 4 parameters"; empty if
/// they do not.
std::string describe_difference(launch_plan const& plan, plan_launch const& launch,
                                std::span<std::size_t const> sizes,
                                std::optional<element_type> const& element)
{
  auto const count = launch.arguments.size();
  if (count != sizes.size())
    return detail::format("{} argument{} for {} parameter{}", count, count == 1 ? "" : "s",
                          sizes.size(), sizes.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < count; ++i) {
    auto const bytes = passed_bytes(plan, launch.arguments[i], element);
    if (bytes && *bytes != sizes[i])
      return detail::format("argument {} has {} bytes, the parameter {}", i, *bytes, sizes[i]);
  }
  return {};
}

std::vector<std::size_t> sizes_of(ptx_function const& kernel)
{
  std::vector<std::size_t> sizes;
  for (auto const& parameter : kernel.parameters) sizes.push_back(parameter_bytes(parameter));
  return sizes;
}

finding make_plan_mismatch(launch_plan const& plan, std::string const& kernel,
                           std::string const& module, std::string message, std::string hint)
{
  return {.id = finding_id::plan_mismatch,
          .severity = severity::error,
          .files = {module, plan.file},
          .symbol = kernel,
          .message = std::move(message),
          .hint = std::move(hint)};
}

std::string suggest_kernel(kernel_list const& list, std::string const& name)
{
  std::set<std::string> distinct;
  for (auto const& kernel : list.kernels) distinct.insert(kernel.function->name);
  std::vector<std::string> const names(distinct.begin(), distinct.end());
  if (names.empty()) return "it has no kernels: state the plan beside the library's fatbin";
  for (auto const& known : names)
    if (is_mangled(known, name))
      return detail::format("{0} is its C++ name: state {0}, or declare it extern \"C\"", known);
  auto const similar = nearest(names, name);
  return detail::format("{}the kernels are: {}",
                        similar.empty() ? "" : detail::format("did you mean {}? ", similar),
                        list_names(names));
}

std::optional<finding> check_launch(launch_plan const& plan, std::size_t index,
                                    kernel_list const& list, std::string const& files,
                                    std::optional<element_type> const& element)
{
  auto const& launch = plan.launches[index];
  auto has_kernel = false;
  for (auto const& [kernel, module] : list.kernels) {
    if (kernel->name != launch.kernel) continue;
    has_kernel = true;
    auto const difference = describe_difference(plan, launch, sizes_of(*kernel), element);
    if (difference.empty()) continue;
    return make_plan_mismatch(plan, launch.kernel, module->name(),
                              detail::format("{}: launches[{}] passes {}, but {} has {}: {}",
                                             plan.file, index, launch_signature(plan, launch),
                                             module->name(), to_string(*kernel), difference),
                              k_correct_arguments);
  }
  if (has_kernel || !list.is_complete) return std::nullopt;
  return make_plan_mismatch(
      plan, launch.kernel, files,
      detail::format("{}: launches[{}].kernel: {} has no kernel {}, for {}", plan.file, index,
                     files, launch.kernel, launch_signature(plan, launch)),
      suggest_kernel(list, launch.kernel));
}

}  // namespace

std::string launch_signature(launch_plan const& plan, plan_launch const& launch)
{
  std::string list;
  for (auto const& argument : launch.arguments)
    list += (list.empty() ? "" : ", ") + describe_argument(plan, argument);
  return detail::format("{}({})", launch.kernel, list);
}

std::vector<finding> check_plan(launch_plan const& plan, std::span<fatbin const> modules,
                                plan_check const& request)
{
  kernel_list list;
  std::vector<std::string> files;
  for (auto const& module : modules) {
    add_module(list, module, request.choice);
    files.push_back(module.name());
  }
  std::vector<finding> findings;
  for (std::size_t i = 0; i < plan.launches.size(); ++i)
    if (auto found = check_launch(plan, i, list, list_names(files), request.element))
      findings.push_back(std::move(*found));
  for (auto& found : check_plan_hooks(plan, modules)) findings.push_back(std::move(found));
  return findings;
}

std::optional<finding> check_loaded_launch(launch_plan const& plan, std::size_t index,
                                           std::span<std::size_t const> sizes)
{
  auto const& launch = plan.launches[index];
  auto const difference = describe_difference(plan, launch, sizes, {});
  if (difference.empty()) return std::nullopt;
  return make_plan_mismatch(
      plan, launch.kernel, plan.name,
      detail::format(
          "{}: launches[{}] passes {}, but the linked {} takes parameters of [{}] bytes: "
          "{}",
          plan.file, index, launch_signature(plan, launch), launch.kernel, fmt::join(sizes, ", "),
          difference),
      k_correct_arguments);
}

}  // namespace fatlink::detail
