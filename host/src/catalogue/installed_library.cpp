// SPDX-License-Identifier: Apache-2.0
#include "catalogue/installed_library.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "fatbin/ident.hpp"
#include "fatlink/error.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/preflight.hpp"
#include "preflight/rules.hpp"
#include "preflight/symbols.hpp"
#include "util/files/read_file.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

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

bool includes_contract_version(installed_library const& library, ident const& contract)
{
  auto const& stated = library.contents.ident();
  if (!stated) return false;
  auto const included = stated->includes.find(contract.contract);
  return included != stated->includes.end() && included->second == contract.version;
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
  auto including =
      select([&](auto const& library) { return includes_contract_version(library, *stated); });
  if (!including.empty()) return including;
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

namespace fatlink::detail {
namespace {

class call_index {
 public:
  /// `inputs` must outlive the object.
  explicit call_index(std::span<fatbin const> inputs);

  /// Functions that `transform`, one of the inputs, defines and no other input calls.
  [[nodiscard]] std::vector<ptx_function> unused_functions(fatbin const& transform) const;

 private:
  using positions = std::map<ptx_interface const*, std::size_t>;

  static preflight_inputs preflight_inputs_of(std::span<fatbin const> inputs, positions& places);

  positions positions_;
  preflight_inputs inputs_;
  symbol_index symbols_;
};

call_index::call_index(std::span<fatbin const> inputs)
    : inputs_(preflight_inputs_of(inputs, positions_)), symbols_(inputs_)
{
}

std::vector<ptx_function> call_index::unused_functions(fatbin const& transform) const
{
  std::vector<ptx_function> functions;
  auto const* const interface = &interface_of_any(transform);
  auto const& definer = inputs_[positions_.at(interface)];
  auto const add = [&](std::vector<ptx_function> const& defined, symbol_role role) {
    for (auto const& function : defined)
      if (!symbols_.find(function.name).is_called(role, definer)) functions.push_back(function);
  };
  add(interface->definitions, symbol_role::definition);
  add(interface->weak, symbol_role::weak_definition);
  return functions;
}

/// Copies of one input share an interface, and count once.
preflight_inputs call_index::preflight_inputs_of(std::span<fatbin const> inputs, positions& places)
{
  preflight_inputs described;
  for (auto const& input : inputs)
    if (auto const& interface = interface_of_any(input);
        places.emplace(&interface, described.size()).second)
      described.push_back(
          {.file = &input, .interface = interface, .ident = input.ident(), .is_opaque = false});
  return described;
}

/// The names of `functions`, which must outlive the result.
std::vector<std::string_view> names_of(std::vector<ptx_function> const& functions)
{
  std::vector<std::string_view> names;
  for (auto const& function : functions) names.push_back(function.name);
  return names;
}

using fatbins = std::span<fatbin const>;

bool define_a_hook(fatbins transforms, ptx_interface const& library)
{
  name_set const hooks(library.hooks);
  return std::any_of(transforms.begin(), transforms.end(), [&](fatbin const& transform) {
    auto const functions = defined_functions(interface_of_any(transform));
    return std::any_of(functions.begin(), functions.end(),
                       [&](ptx_function const& function) { return hooks.contains(function.name); });
  });
}

/// What the transforms define and nothing calls, to tell a mistake from a hook that is left to
/// another transform: a function whose name resembles the hook's, or a variable of its name.
class unused_definitions {
 public:
  explicit unused_definitions(std::vector<fatbin> const& inputs)
      : functions_(collect(inputs)), search_(names_of(functions_))
  {
    std::vector<std::string_view> variables;
    for (auto const& transform : fatbins(inputs).subspan(1))
      for (auto const& variable : interface_of_any(transform).variables)
        variables.push_back(variable.name);
    variables_ = name_set(std::move(variables));
  }

  [[nodiscard]] bool resemble(std::string const& hook)
  {
    return variables_.contains(hook) || has_mangled(hook) || !search_.nearest(hook).empty();
  }

 private:
  static std::vector<ptx_function> collect(std::vector<fatbin> const& inputs)
  {
    std::vector<ptx_function> functions;
    call_index const calls(inputs);
    for (auto const& transform : fatbins(inputs).subspan(1))
      for (auto& function : calls.unused_functions(transform))
        functions.push_back(std::move(function));
    return functions;
  }

  [[nodiscard]] bool has_mangled(std::string const& hook)
  {
    return std::any_of(functions_.begin(), functions_.end(), [&](ptx_function const& function) {
      return search_.spend(function.name.size()) && is_mangled(function.name, hook);
    });
  }

  std::vector<ptx_function> functions_;
  name_search search_;  ///< of `functions_`
  name_set variables_;
};

/// Makes a missing hook of the library, the first of `inputs`, a warning if a transform defines
/// another of its hooks, and none defines something that may be meant to be this one. Not the
/// finding that counts what is not listed, which names no symbol.
void allow_open_hooks(std::vector<finding>& findings, std::vector<fatbin> const& inputs)
{
  auto const& library = inputs.front();
  auto const is_left = [&](finding const& entry) {
    return entry.id == finding_id::missing_hook && entry.files == std::vector{library.name()} &&
           !entry.symbol.empty();
  };
  if (std::none_of(findings.begin(), findings.end(), is_left) ||
      !define_a_hook(fatbins(inputs).subspan(1), interface_of_any(library)))
    return;
  unused_definitions unused(inputs);
  for (auto& entry : findings)
    if (is_left(entry) && !unused.resemble(entry.symbol)) entry.severity = severity::warning;
}

}  // namespace

}  // namespace fatlink::detail

namespace fatlink {
namespace {

using detail::interface_of_any;
using fatbins = std::span<fatbin const>;

bool has_ptx(fatbin const& input)
{
  return detail::has_entry(input, entry_kind::ptx);
}

void sort_by_severity(std::vector<finding>& findings)
{
  std::stable_sort(findings.begin(), findings.end(),
                   [](finding const& a, finding const& b) { return a.severity > b.severity; });
}

// Findings for transforms without a library.

finding not_judged(fatbin const& transform, std::string const& cause, std::string const& remedy)
{
  return {.id = finding_id::not_judged,
          .severity = severity::error,
          .files = {transform.name()},
          .message = detail::format("{} {}: it cannot be checked", transform.name(), cause),
          .hint = detail::format("{}pass the library with it", remedy)};
}

finding lacks_ptx(fatbin const& transform)
{
  return not_judged(transform, "holds no PTX, so the functions that it defines are not known",
                    "compile it with nvcc -dlto -fatbin -arch=sm_75 or fatlink compile, or ");
}

finding lacks_contract_library(fatbin const& transform)
{
  auto const& stated = *transform.ident();
  auto const& package = stated.contract_package;
  return not_judged(
      transform,
      detail::format("is built against contract {}/{}, and no installed library has it",
                     stated.contract, stated.version),
      package.empty()
          ? std::string{}
          : detail::format("install package {}, or ", package.substr(0, package.find(' '))));
}

/// The hooks of an installed library, to search.
struct library_hooks {
  installed_library const* library;
  std::vector<ptx_function> hooks;
  detail::name_search search;
};

std::vector<library_hooks> hooks_of(std::span<installed_library const> libraries)
{
  std::vector<library_hooks> libraries_hooks;
  for (auto const& library : libraries) {
    auto hooks = detail::hooks_of(interface_of_any(library.contents));
    detail::name_search search(
        detail::names_of(hooks));  // moving `hooks` leaves the names in place
    libraries_hooks.push_back({&library, std::move(hooks), std::move(search)});
  }
  return libraries_hooks;
}

/// "did you mean user_transform, which apply_transform calls? "; empty: no name is similar.
std::string suggestion(std::vector<library_hooks>& libraries, ptx_function const& function)
{
  for (auto& [library, hooks, search] : libraries)
    for (auto const& hook : hooks)
      if (search.spend(function.name.size()) && detail::is_mangled(function.name, hook.name))
        return detail::format(
            "{} is the C++ name of {}, which {} calls: declare the definition "
            "extern \"C\". ",
            function.name, hook.name, library->name);
  for (auto& [library, hooks, search] : libraries) {
    auto const name = search.nearest(function.name);
    if (!name.empty())
      return detail::format("did you mean {}, which {} calls? ", name, library->name);
  }
  return {};
}

/// `hooks`: of the installed libraries.
finding unused_definition(std::vector<library_hooks>& hooks, fatbin const& transform,
                          std::vector<ptx_function> const& functions, severity level)
{
  std::string similar;
  auto const has_work = [](library_hooks const& library) { return library.search.work_left() > 0; };
  for (auto const& function : functions) {
    if (!similar.empty() || std::none_of(hooks.begin(), hooks.end(), has_work)) break;
    similar = suggestion(hooks, function);
  }
  return {.id = finding_id::unused_definition,
          .severity = level,
          .files = {transform.name()},
          .symbol = functions.front().name,
          .message = detail::format("{} defines {}, which no installed library calls",
                                    transform.name(), detail::list_functions(functions)),
          .hint = similar.empty() ? "pass the library whose kernel calls it"
                                  : similar + "Otherwise pass the library whose kernel calls it"};
}

finding only_variables(fatbin const& transform)
{
  auto const& name = interface_of_any(transform).variables.front().name;
  return {.id = finding_id::unused_definition,
          .severity = severity::error,
          .files = {transform.name()},
          .symbol = name,
          .message =
              detail::format("{} defines variables ({}) and no function", transform.name(), name),
          .hint = "define the hook as an extern \"C\" __device__ function"};
}

bool declares_hooks(fatbins inputs)
{
  return std::any_of(inputs.begin(), inputs.end(), [](fatbin const& input) {
    return !detail::hooks_of(interface_of_any(input)).empty();
  });
}

class check_without_library {
 public:
  check_without_library(std::span<installed_library const> libraries, fatbins transforms)
      : hooks_(hooks_of(libraries)),
        calls_(transforms),
        level_(declares_hooks(transforms) ? severity::warning : severity::error)
  {
  }

  std::optional<finding> check(fatbin const& transform)
  {
    if (!has_ptx(transform)) return lacks_ptx(transform);
    auto const& stated = transform.ident();
    if (stated && !stated->contract.empty()) return lacks_contract_library(transform);
    auto const& interface = interface_of_any(transform);
    if (detail::defined_functions(interface).empty() && !interface.variables.empty())
      return only_variables(transform);
    auto const functions = calls_.unused_functions(transform);
    if (functions.empty()) return {};  // preflight says that it defines nothing, or it is called
    return unused_definition(hooks_, transform, functions, level_);
  }

 private:
  std::vector<library_hooks> hooks_;
  detail::call_index calls_;
  severity level_;
};

}  // namespace

bool lacks_library(std::span<fatbin const> inputs)
{
  auto const has_kernel = [](fatbin const& input) {
    return !interface_of_any(input).kernels.empty();
  };
  if (std::any_of(inputs.begin(), inputs.end(), has_kernel)) return false;
  return std::all_of(inputs.begin(), inputs.end(), has_ptx) ||
         std::none_of(inputs.begin(), inputs.end(), has_ptx);
}

std::vector<finding> preflight_with(installed_library const& library,
                                    std::span<input const> transforms,
                                    preflight_request const& request)
{
  std::vector<input> inputs{library.contents};
  inputs.insert(inputs.end(), transforms.begin(), transforms.end());
  auto findings = preflight(inputs, request);
  detail::allow_open_hooks(findings, select_modules(inputs, request));
  sort_by_severity(findings);
  return findings;
}

std::vector<finding> preflight_without(std::span<installed_library const> libraries,
                                       std::span<input const> transforms,
                                       preflight_request const& request)
{
  auto findings = preflight(transforms, request);
  auto const modules = select_modules(transforms, request);
  check_without_library judge(libraries, modules);
  std::vector<finding> causes;
  for (auto const& transform : modules)
    if (auto cause = judge.check(transform)) causes.push_back(*std::move(cause));
  findings.insert(findings.begin(), std::make_move_iterator(causes.rbegin()),
                  std::make_move_iterator(causes.rend()));
  sort_by_severity(findings);
  return findings;
}

}  // namespace fatlink
