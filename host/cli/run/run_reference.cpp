// SPDX-License-Identifier: Apache-2.0
#include "run/run_reference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "fatbin/sidecar.hpp"
#include "fatlink/preflight.hpp"
#include "fatlink/source.hpp"
#include "input/stated_digest.hpp"
#include "preflight/interface_queries.hpp"
#include "verification/stated_hooks.hpp"
#include "verification/transform_reference.hpp"

namespace fatlink::cli {
namespace {

using names = std::set<std::string>;
using detail::interface_of_any;

/// Whether its PTX or SASS shows its functions.
bool shows_functions(fatbin const& input)
{
  auto const& entries = input.entries();
  return std::any_of(entries.begin(), entries.end(),
                     [](fatbin_entry const& entry) { return shows_interface(entry); });
}

names names_of(std::vector<ptx_function> const& functions)
{
  names result;
  for (auto const& function : functions) result.insert(function.name);
  return result;
}

/// The functions that inputs declare and do not define, and the library's weak defaults.
names called_functions(std::span<fatbin const> inputs)
{
  auto called = names_of(interface_of_any(inputs.front()).weak);
  for (auto const& input : inputs) called.merge(names_of(interface_of_any(input).hooks));
  return called;
}

names definitions_of(fatbin const& input)
{
  auto defined = names_of(interface_of_any(input).definitions);
  defined.merge(names_of(interface_of_any(input).weak));
  return defined;
}

[[noreturn]] void refuse(reference const& stated, std::string const& message, std::string hint)
{
  throw file_error(stage::sidecar, {.message = fmt::format("{}: its \"hook\" is {}, {}",
                                                           stated.file, stated.hook, message),
                                    .input = stated.file,
                                    .code = error_code::invalid_sidecar,
                                    .hint = std::move(hint)});
}

/// A transform with a sidecar.
struct transform_file {
  std::filesystem::path path;
  std::vector<fatbin const*> modules;  ///< those that are linked

  [[nodiscard]] bool shows_functions() const
  {
    return std::ranges::all_of(modules,
                               [](auto const* module) { return cli::shows_functions(*module); });
  }
  [[nodiscard]] names definitions() const
  {
    names defined;
    for (auto const* module : modules) defined.merge(definitions_of(*module));
    return defined;
  }
};

void check_hook(reference const& stated, std::span<fatbin const> inputs,
                std::span<std::filesystem::path const> owners, transform_file const& transform)
{
  if (std::all_of(inputs.begin(), inputs.end(), shows_functions) &&
      !called_functions(inputs).contains(stated.hook)) {
    auto const filled = filled_hooks(inputs, owners);
    refuse(stated, "which no input calls",
           filled.empty()
               ? "no hook is called: correct \"hook\", or remove the transform"
               : fmt::format("hooks that are called: {}; correct \"hook\", or remove the transform",
                             fmt::join(filled, ", ")));
  }
  auto const defined = transform.definitions();
  if (transform.shows_functions() && !defined.contains(stated.hook))
    refuse(stated, fmt::format("which {} does not define", transform.path.string()),
           fmt::format("{} defines: {}; correct \"hook\"", transform.path.string(),
                       fmt::join(defined, ", ")));
}

/// The transforms of `inputs`, whose files `owners` are; modules of one file are adjacent.
std::vector<transform_file> list_transforms(std::span<fatbin const> inputs,
                                            std::span<std::filesystem::path const> owners)
{
  std::vector<transform_file> files;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (owners[i].empty()) continue;
    if (files.empty() || files.back().path != owners[i])
      files.push_back({.path = owners[i], .modules = {}});
    files.back().modules.push_back(&inputs[i]);
  }
  return files;
}

/// The checked references of the transforms that have one.
std::vector<reference> read_references(std::span<fatbin const> inputs,
                                       std::span<std::filesystem::path const> owners)
{
  std::vector<reference> references;
  for (auto const& transform : list_transforms(inputs, owners)) {
    auto candidate = reference::beside(transform.path);
    if (!candidate) continue;
    check_hook(*candidate, inputs, owners, transform);
    references.push_back(std::move(*candidate));
  }
  return references;
}

/// Why no reference can describe the whole kernel, whatever the sidecars state; empty if one can.
std::string explain_no_reference(std::span<fatbin const> inputs,
                                 std::vector<std::string> const& filled)
{
  if (filled.size() > 1)
    return fmt::format("several hooks are filled ({})", fmt::join(filled, ", "));
  if (inputs.size() <= 2) return {};
  auto const opaque = std::find_if_not(inputs.begin(), inputs.end(), shows_functions);
  if (opaque == inputs.end()) return {};
  return fmt::format("{} contains neither PTX nor SASS, so the hooks that it fills are not known",
                     opaque->name());
}

/// Why a sidecar without "reference" describes no hook of a kernel without a launch plan.
std::string explain_other_form(std::filesystem::path const& sidecar)
{
  if (!detail::read_json(sidecar)->contains("hooks"))
    return fmt::format("{} states no reference for the hook", sidecar.string());
  return fmt::format(
      "{} states \"hooks\", which describe a library with a launch plan; without one, state "
      "\"hook\", \"reference\" and \"tolerance_ulp\"",
      sidecar.string());
}

/// Why no sidecar of the files `owners` states the reference.
std::string explain_no_sidecar(std::span<std::filesystem::path const> owners)
{
  for (auto const& file : owners) {
    if (file.empty()) continue;
    if (auto const sidecar = detail::find_sidecar(file)) return explain_other_form(*sidecar);
    if (auto const other = detail::sidecar_of(file); detail::is_sidecar(other))
      return fmt::format("{} is the .json of another file than {}", other.string(), file.string());
    else if (is_source_name(file) && std::filesystem::exists(other))
      return fmt::format("{} states no reference", other.string());
  }
  return "the transform has no .json";
}

/// The hooks that readable inputs declare and none defines, if an input does not show its
/// functions: that one defines them, or the link fails.
names hooks_of_unreadable(std::span<fatbin const> inputs)
{
  if (std::all_of(inputs.begin(), inputs.end(), shows_functions)) return {};
  names hooks;
  for (auto const& input : inputs) hooks.merge(names_of(detail::hooks_of(interface_of_any(input))));
  for (auto const& input : inputs)
    for (auto const& name : definitions_of(input)) hooks.erase(name);
  return hooks;
}

}  // namespace

std::vector<std::string> filled_hooks(std::span<fatbin const> inputs,
                                      std::span<std::filesystem::path const> owners)
{
  auto filled = hooks_of_unreadable(inputs);
  auto const add = [&](names const& called, names const& defined) {
    std::set_intersection(called.begin(), called.end(), defined.begin(), defined.end(),
                          std::inserter(filled, filled.end()));
  };
  auto const defaults = names_of(interface_of_any(inputs.front()).weak);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t caller = 0; caller < inputs.size(); ++caller)
      if (i == caller || owners[i].empty() || owners[i] != owners[caller])
        add(names_of(interface_of_any(inputs[caller]).hooks), definitions_of(inputs[i]));
    add(defaults, names_of(interface_of_any(inputs[i]).definitions));
  }
  return {filled.begin(), filled.end()};
}

void check_hooks(std::span<input const> inputs)
{
  for (auto const& file : inputs)
    if (auto const stated = transform_reference::beside(file.name());
        stated && stated->states_hooks)
      detail::check_stated_hooks(file.modules(), file.name(), *stated);
}

reference_choice choose_reference(std::span<fatbin const> inputs,
                                  std::span<std::filesystem::path const> owners)
{
  reference_choice choice{.filled_hooks = filled_hooks(inputs, owners)};
  auto const references = read_references(inputs, owners);
  choice.reason = explain_no_reference(inputs, choice.filled_hooks);
  if (!choice.reason.empty()) return choice;
  for (auto const& candidate : references)
    if (choice.filled_hooks.empty() || candidate.hook == choice.filled_hooks.front())
      choice.expected = candidate;
  if (!choice.expected) choice.reason = explain_no_sidecar(owners);
  return choice;
}

}  // namespace fatlink::cli
