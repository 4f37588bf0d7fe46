// SPDX-License-Identifier: Apache-2.0
#include "compiler/contract/contract_hooks.hpp"

#include <algorithm>
#include <utility>

#include "fatlink/error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr char const* k_probe = "fatlink_hook_";

/// The mangled type in "_Z14fatlink_hook_0PFffE"; empty if no function of `module` has it.
std::string mangled_type(ptx_interface const& module, std::size_t index)
{
  auto const name = detail::format("{}{}", k_probe, index);
  auto const prefix = detail::format("_Z{}{}P", name.size(), name);
  for (auto const& function : module.definitions)
    if (function.name.starts_with(prefix)) return function.name.substr(prefix.size());
  return {};
}

[[noreturn]] void refuse(installed_contract const& contract, std::string const& hook)
{
  throw file_error(
      stage::compiler,
      {.message = detail::format("{}: {} is not a device function that it declares extern \"C\"",
                                 contract.header_path, hook),
       .input = contract.header_path,
       .code = error_code::invalid_contract,
       .hint =
           detail::format("correct the header or the hooks of the contract {}", contract.title())});
}

}  // namespace

program hook_probe(installed_contract const& contract, std::vector<std::string> const& options)
{
  program probe{
      .name = contract.name + "_hooks.cu",
      .compiles = {{.options = {"--relocatable-device-code=true", "--std=c++17",
                                "--gpu-architecture=compute_75", "--modify-stack-limit=false"}}}};
  auto& list = probe.compiles.front().options;
  list.insert(list.end(), options.begin(), options.end());
  for (std::size_t i = 0; i < contract.hooks.size(); ++i)
    probe.source += detail::format(
        "__device__ void {0}{1}(decltype({2})*) {{}}\n"
        "__device__ void* fatlink_address_{1}() {{ return (void*)&{2}; }}\n",
        k_probe, i, contract.hooks[i]);
  return probe;
}

hook_types read_hook_types(std::string_view ptx, installed_contract const& contract)
{
  auto const module = read_ptx_interface(ptx, contract.header_name);
  hook_types types;
  for (std::size_t i = 0; i < contract.hooks.size(); ++i) {
    auto const& name = contract.hooks[i];
    auto const mangled = mangled_type(module, i);
    auto const hook = std::find_if(module.hooks.begin(), module.hooks.end(),
                                   [&](auto const& function) { return function.name == name; });
    if (mangled.empty() || hook == module.hooks.end()) refuse(contract, name);
    types.mangled.emplace(name, mangled);
    types.declarations.push_back(*hook);
  }
  return types;
}

}  // namespace fatlink::detail
