// SPDX-License-Identifier: Apache-2.0
#include "plan/check_plan.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "plan/check_hooks.hpp"
#include "preflight/findings.hpp"
#include "preflight/symbols.hpp"
#include "preflight/types.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {
namespace {

constexpr std::size_t k_pointer_bytes = 8;
constexpr char const* k_correct_arguments =
    "correct \"arguments\" of this launch: what the kernel takes, in its order";

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

finding mismatch(launch_plan const& plan, std::string const& kernel, std::string const& module,
                 std::string message, std::string hint)
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
  return detail::format("{}kernels there are: {}",
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
    return mismatch(plan, launch.kernel, module->name(),
                    detail::format("{}: launches[{}] passes {}, but {} has {}: {}", plan.file,
                                   index, launch_signature(plan, launch), module->name(),
                                   to_string(*kernel), difference),
                    k_correct_arguments);
  }
  if (has_kernel || !list.is_complete) return std::nullopt;
  return mismatch(plan, launch.kernel, files,
                  detail::format("{}: launches[{}].kernel: {} has no kernel {}, for {}", plan.file,
                                 index, files, launch.kernel, launch_signature(plan, launch)),
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
    if (auto problem = check_launch(plan, i, list, list_names(files), request.element))
      findings.push_back(std::move(*problem));
  for (auto& problem : check_plan_hooks(plan, modules)) findings.push_back(std::move(problem));
  return findings;
}

std::optional<finding> check_loaded_launch(launch_plan const& plan, std::size_t index,
                                           std::span<std::size_t const> sizes)
{
  auto const& launch = plan.launches[index];
  auto const difference = describe_difference(plan, launch, sizes, {});
  if (difference.empty()) return std::nullopt;
  return mismatch(
      plan, launch.kernel, plan.name,
      detail::format(
          "{}: launches[{}] passes {}, but the linked {} takes parameters of [{}] bytes: "
          "{}",
          plan.file, index, launch_signature(plan, launch), launch.kernel, fmt::join(sizes, ", "),
          difference),
      k_correct_arguments);
}

}  // namespace fatlink::detail
