// SPDX-License-Identifier: Apache-2.0
#include "run/implied_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>
#include <vector>

#include "fatbin/sidecar.hpp"
#include "fatlink/launch_shape.hpp"
#include "input/find_sidecar.hpp"
#include "input/input_forms.hpp"
#include "installed.hpp"
#include "preflight/symbols.hpp"

namespace fatlink::cli {
namespace {

constexpr unsigned k_block = 256;
constexpr std::size_t k_parameter_bytes = 8;  // of a pointer and of size_t
constexpr char const* k_parameters = "(const float*, float*, size_t)";

struct kernel_entry {
  fatbin const* file;
  ptx_function const* function;
};

/// The kernels in the PTX of `input`. Their parameters are the same for every target.
std::vector<kernel_entry> kernels_of(fatbin const& input)
{
  std::vector<kernel_entry> entries;
  for (auto const& kernel : detail::interface_of_any(input).kernels)
    entries.push_back({&input, &kernel});
  return entries;
}

std::vector<kernel_entry> kernels_of(std::span<fatbin const> inputs)
{
  std::vector<kernel_entry> entries;
  for (auto const& input : inputs)
    std::ranges::move(kernels_of(input), std::back_inserter(entries));
  return entries;
}

std::size_t size_of(ptx_parameter const& parameter)
{
  auto const digits = parameter.type.find_first_of("0123456789");
  std::size_t bits = 0;
  if (digits != std::string::npos)
    std::from_chars(parameter.type.data() + digits, parameter.type.data() + parameter.type.size(),
                    bits);
  return bits / 8 * std::max(parameter.count, 1UL);
}

/// Whether it takes (const float*, float*, size_t), as far as PTX states types: no parameter is
/// floating-point, and `.ptr`, if the PTX has it, is on the first two.
bool fits(ptx_function const& kernel)
{
  auto const& parameters = kernel.parameters;
  auto const is_word = [](ptx_parameter const& parameter) {
    return size_of(parameter) == k_parameter_bytes && !parameter.type.starts_with('f');
  };
  if (parameters.size() != 3 || !std::all_of(parameters.begin(), parameters.end(), is_word))
    return false;
  return parameters[0].is_pointer == parameters[1].is_pointer && !parameters[2].is_pointer;
}

/// Its signature, with the parameters that are pointers.
std::string signature_of(ptx_function const& kernel)
{
  std::vector<std::size_t> pointers;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
    if (kernel.parameters[i].is_pointer) pointers.push_back(i + 1);
  return pointers.empty() ? to_string(kernel)
                          : fmt::format("{}, of which pointers are {}", to_string(kernel),
                                        fmt::join(pointers, ", "));
}

/// Why the library of this file has no launch plan of its own.
std::string explain_no_plan(std::filesystem::path const& library)
{
  if (auto const sidecar = detail::find_sidecar(library))
    return fmt::format("{} states no launch plan", sidecar->name());
  return fmt::format("there is no {} with a launch plan", detail::sidecar_path(library).string());
}

std::string hint_for(std::string_view file, std::vector<kernel_entry> const& kernels)
{
  std::vector<std::string> options;
  for (auto const& entry : kernels)
    if (fits(*entry.function)) options.push_back("--kernel " + entry.function->name);
  if (options.empty())
    return fmt::format(
        "no kernel of {} has these parameters, so it needs a launch plan: {}; or launch it from a "
        "program (fatlink/device.hpp)",
        file, explain_no_plan(detail::parse_module_name(file).file));
  return fmt::format("pass {}", fmt::join(options, " or "));
}

[[noreturn]] void fail_kernel(std::string_view file, std::vector<kernel_entry> const& kernels,
                              std::string const& message)
{
  throw usage_error({.message = message,
                     .input = std::string(file),
                     .code = error_code::unknown_kernel,
                     .hint = hint_for(file, kernels)});
}

std::string default_name(std::span<fatbin const> library)
{
  auto const kernels = kernels_of(library);
  auto const is_default = [](kernel_entry const& entry) {
    return entry.function->name == k_default_kernel;
  };
  if (kernels.empty() || std::any_of(kernels.begin(), kernels.end(), is_default))
    return k_default_kernel;
  if (kernels.size() == 1) return kernels.front().function->name;
  auto const file = detail::parse_module_name(kernels.front().file->name()).file;
  fail_kernel(
      file, kernels,
      fmt::format("{} has {} kernels, none of them {}: name the kernel to execute with --kernel",
                  file, kernels.size(), k_default_kernel));
}

extent block_of(ptx_function const& kernel)
{
  if (auto const [x, y, z] = kernel.required_block; x != 0) return {x, y, z};
  return kernel.max_block_threads == 0 ? k_block : std::min(k_block, kernel.max_block_threads);
}

plan_argument array(std::string name, argument_role role)
{
  return {.name = std::move(name),
          .role = role,
          .type = scalar_type(scalar_kind::float32),
          .shape = {"n"}};
}

/// The kernel `name` in the PTX of `modules`; null if none holds it.
/// @throws usage_error its parameters are others.
ptx_function const* find_kernel(std::span<fatbin const> modules, std::string const& name)
{
  for (auto const& module : modules)
    for (auto const& [file, function] : kernels_of(module)) {
      if (function->name != name) continue;
      if (!fits(*function))
        fail_kernel(file->name(), kernels_of(*file),
                    fmt::format("kernel {} of {} cannot be executed: fatlink passes {}, three "
                                "parameters of 8 bytes",
                                signature_of(*function), file->name(), k_parameters));
      return function;
    }
  return nullptr;
}

/// out = map(hook, in).
plan_result map_of(std::string hook)
{
  computation value{.kind = operation::map, .name = std::move(hook)};
  value.operands = {{.kind = operation::argument, .name = "in"}};
  return {.output = "out", .value = std::move(value)};
}

/// The first hook that a module calls; empty: the modules do not show their functions.
std::string first_hook(std::span<fatbin const> modules)
{
  for (auto const list : {&ptx_interface::hooks, &ptx_interface::weak})
    for (auto const& module : modules)
      if (auto const& functions = detail::interface_of_any(module).*list; !functions.empty())
        return functions.front().name;
  return {};
}

using function_names = std::set<std::string>;

/// The functions in the given lists of every module of `file`.
function_names names_in(input const& file,
                        std::initializer_list<std::vector<ptx_function> ptx_interface::*> lists)
{
  function_names found;
  for (auto const& module : file.modules())
    for (auto const list : lists)
      for (auto const& function : detail::interface_of_any(module).*list)
        found.insert(function.name);
  return found;
}

/// Whether one input calls the function that another one defines; also if none shows that it
/// defines it.
bool is_between_inputs(std::string const& name, std::span<input const> inputs)
{
  auto is_defined = false;
  for (auto const& file : inputs) {
    if (!names_in(file, {&ptx_interface::definitions, &ptx_interface::weak}).contains(name))
      continue;
    is_defined = true;
    for (auto const& other : inputs)
      if (&other != &file &&
          names_in(other, {&ptx_interface::hooks, &ptx_interface::weak}).contains(name))
        return true;
  }
  return !is_defined;
}

/// The weak functions of the library, the first input, that another one defines.
function_names replaced_functions(std::span<input const> inputs)
{
  auto const weak = names_in(inputs.front(), {&ptx_interface::weak});
  function_names replaced;
  for (auto const& transform : inputs.subspan(1))
    for (auto const& name : names_in(transform, {&ptx_interface::definitions}))
      if (weak.contains(name)) replaced.insert(name);
  return replaced;
}

}  // namespace

launch_plan implied_plan(std::filesystem::path const& library)
{
  launch_plan plan{
      .name = library.stem().string(), .summary = "out[i] = f(in[i])", .file = library.string()};
  plan.arguments = {
      array("in", argument_role::input),
      array("out", argument_role::output),
      {.name = "n", .role = argument_role::size, .type = scalar_type(scalar_kind::uint64)}};
  plan.results = {map_of({})};
  return plan;
}

void add_launch(launch_plan& plan, std::span<fatbin const> modules, std::string const& requested,
                std::size_t library_modules)
{
  auto const library = library_modules == 0 ? modules : modules.first(library_modules);
  plan_launch launch{.kernel = requested.empty() ? default_name(library) : requested};
  auto const* const kernel = find_kernel(modules, launch.kernel);
  auto const block = kernel == nullptr ? extent(k_block) : block_of(*kernel);
  launch.grid[0] = fmt::format("ceil(n / {})", block.x);
  launch.block = {std::to_string(block.x), std::to_string(block.y), std::to_string(block.z)};
  for (auto const* const name : {"in", "out", "n"}) launch.arguments.push_back({.argument = name});
  plan.launches = {launch};
  plan.results.clear();
  if (auto hook = first_hook(modules); !hook.empty()) plan.results = {map_of(std::move(hook))};
}

std::set<std::string> filled_hooks(linked_image const& image, std::span<input const> inputs)
{
  auto filled = replaced_functions(inputs);
  for (auto const& hook : image.hooks)
    if (!hook.is_default && is_between_inputs(hook.name, inputs)) filled.insert(hook.name);
  return filled;
}

std::string add_hook(launch_plan& plan, std::set<std::string> const& filled)
{
  if (filled.empty()) return "no hook is filled";
  plan.results = {map_of(*filled.begin())};
  if (filled.size() == 1) return {};
  return fmt::format("several hooks are filled ({})", fmt::join(filled, ", "));
}

}  // namespace fatlink::cli
