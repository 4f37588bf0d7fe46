// SPDX-License-Identifier: Apache-2.0
#include "catalogue/installed_library.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "fatbin/ident.hpp"
#include "fatlink/error.hpp"
#include "preflight/symbols.hpp"
#include "util/files/path_lookup.hpp"

namespace fatlink {
namespace {

std::optional<fatbin> read_library(std::filesystem::path const& file)
try {
  auto contents = fatbin::read(file);
  auto const& interface = detail::interface_of_any(contents);
  auto const has_hook = !detail::hooks_of(interface).empty() || !interface.weak.empty();
  if (interface.kernels.empty() || !has_hook) return {};
  return contents;
} catch (error const&) {
  return {};
}

bool has_contract(installed_library const& library, ident const& contract)
{
  auto const& stated = library.contents.ident();
  return stated && stated->contract == contract.contract;
}

bool has_contract_version(installed_library const& library, ident const& contract)
{
  return has_contract(library, contract) && library.contents.ident()->version == contract.version;
}

bool calls_a_definition(installed_library const& library, fatbin const& transform)
{
  detail::function_names const caller(detail::interface_of_any(library.contents));
  detail::function_names const definer(detail::interface_of_any(transform));
  auto const functions = detail::defined_functions(detail::interface_of_any(transform));
  return std::any_of(functions.begin(), functions.end(), [&](ptx_function const& function) {
    return detail::calls(caller, definer, function.name);
  });
}

/// Whether the library declares a function that `transform` defines with the same types.
bool declares_a_definition(installed_library const& library, fatbin const& transform)
{
  auto const& hooks = detail::interface_of_any(library.contents).hooks;
  auto const functions = detail::defined_functions(detail::interface_of_any(transform));
  return std::ranges::any_of(functions, [&](ptx_function const& function) {
    return std::ranges::any_of(hooks, [&](ptx_function const& hook) {
      return hook.name == function.name && to_string(hook) == to_string(function);
    });
  });
}

/// Names of the libraries that `transform` is for.
std::set<std::string> names_for(std::span<installed_library const> libraries,
                                fatbin const& transform)
{
  auto const select = [&](auto const& is_selected) {
    std::set<std::string> names;
    for (auto const& library : libraries)
      if (is_selected(library)) names.insert(library.name);
    return names;
  };
  auto const& stated = transform.ident();
  if (!detail::states_contract(stated)) {
    auto same =
        select([&](auto const& library) { return declares_a_definition(library, transform); });
    if (!same.empty()) return same;
    return select([&](auto const& library) { return calls_a_definition(library, transform); });
  }
  auto exact = select([&](auto const& library) { return has_contract_version(library, *stated); });
  if (!exact.empty()) return exact;
  return select([&](auto const& library) { return has_contract(library, *stated); });
}

}  // namespace

std::vector<installed_library> read_libraries(std::vector<search_folder> const& path)
{
  std::vector<installed_library> libraries;
  std::set<std::string> names;
  for (auto const& folder : path) {
    for (auto const& file : detail::list_folder(folder.path)) {
      auto name = file.stem().string();
      if (file.extension() != ".fatbin" || !names.insert(name).second) continue;
      if (auto contents = read_library(file))
        libraries.push_back({std::move(name), std::move(*contents)});
    }
  }
  std::sort(libraries.begin(), libraries.end(),
            [](auto const& a, auto const& b) { return a.name < b.name; });
  return libraries;
}

std::vector<installed_library> select_libraries(std::span<installed_library const> libraries,
                                                std::span<fatbin const> transforms)
{
  std::set<std::string> names;
  for (auto const& transform : transforms) names.merge(names_for(libraries, transform));
  std::vector<installed_library> selected;
  for (auto const& library : libraries)
    if (names.contains(library.name)) selected.push_back(library);
  return selected;
}

}  // namespace fatlink
