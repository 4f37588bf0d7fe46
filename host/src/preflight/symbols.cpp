// SPDX-License-Identifier: Apache-2.0
// Whether every hook is defined, and every function and variable once.
#include <algorithm>
#include <array>
#include <map>

#include "preflight/finding_limit.hpp"
#include "preflight/interface_queries.hpp"
#include "preflight/symbol_index.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::detail {
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
          "{} defines {} for itself only: compile it with -rdc=true or -dlto, and without static; "
          "in PTX, declare it .visible",
          input.file->name(), hook.name);
  if (is_of_device_runtime(hook.name))
    return "the CUDA Toolkit's device runtime defines it: pass its libcudadevrt.a, too, and link "
           "in "
           "sass mode (<link_mode::sass>), or in lto mode (<link_mode::lto>) and "
           "<set link_options::allow_calls>";
  if (hook.name == "__assert_fail") return "call __assertfail, which the driver provides";
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

finding make_missing_hook(preflight_inputs const& inputs, symbol_index const& symbols,
                          name_search& definitions, preflight_input const& library,
                          ptx_function const& hook)
{
  return {.id = finding_id::missing_hook,
          .severity = severity::error,
          .files = {library.file->name()},
          .symbol = hook.name,
          .message = detail::format("{} calls {}, which is defined by no input",
                                    library.file->name(), to_string(hook)),
          .hint = advise_on_hook(inputs, symbols, definitions, hook)};
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

}  // namespace fatlink::detail
