// SPDX-License-Identifier: Apache-2.0
#include "run/run_kernel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>
#include <vector>

#include "fatlink/preflight.hpp"
#include "input/module_name.hpp"
#include "installed.hpp"
#include "preflight/interface_queries.hpp"
#include "run/run_plan.hpp"

namespace fatlink::cli {
namespace {

constexpr unsigned k_block = 256;
constexpr unsigned k_vector = 4;              // floats in the float4 of elementwise.cuh
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

std::string describe(ptx_function const& kernel)
{
  std::vector<std::size_t> pointers;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
    if (kernel.parameters[i].is_pointer) pointers.push_back(i + 1);
  return pointers.empty() ? to_string(kernel)
                          : fmt::format("{}, of which pointers are {}", to_string(kernel),
                                        fmt::join(pointers, ", "));
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

[[noreturn]] void refuse(std::string_view file, std::vector<kernel_entry> const& kernels,
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
  refuse(file, kernels,
         fmt::format("{} has {} kernels, none of them {}: name the kernel to execute with --kernel",
                     file, kernels.size(), k_default_kernel));
}

/// Whether it is fatlink's own apply_transform, according to the package in the ident.
bool is_shipped(fatbin const& file, ptx_function const& kernel)
{
  auto const& ident = file.ident();
  return kernel.name == k_default_kernel && ident && ident->contract == k_default_library &&
         ident->package.starts_with(std::string(k_shipped_library.package) + ' ');
}

extent block_of(ptx_function const& kernel)
{
  if (auto const [x, y, z] = kernel.required_block; x != 0) return {x, y, z};
  return kernel.max_block_threads == 0 ? k_block : std::min(k_block, kernel.max_block_threads);
}

}  // namespace

run_kernel select_kernel(std::span<fatbin const> inputs, std::string const& requested,
                         std::size_t library_modules)
{
  auto const library = library_modules == 0 ? inputs : inputs.first(library_modules);
  run_kernel kernel{.name = requested.empty() ? default_name(library) : requested};
  for (auto const& input : inputs)
    for (auto const& [file, function] : kernels_of(input)) {
      if (function->name != kernel.name) continue;
      if (!fits(*function))
        refuse(file->name(), kernels_of(*file),
               fmt::format("kernel {} of {} cannot be executed: fatlink passes {}, three "
                           "parameters of 8 bytes",
                           describe(*function), file->name(), k_parameters));
      kernel.block = block_of(*function);
      if (is_shipped(*file, *function)) kernel.elements_per_thread = k_vector;
      return kernel;
    }
  return kernel;
}

}  // namespace fatlink::cli
