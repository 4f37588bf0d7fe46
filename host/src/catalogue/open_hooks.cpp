// SPDX-License-Identifier: Apache-2.0
#include "catalogue/open_hooks.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "catalogue/call_index.hpp"
#include "preflight/symbols.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::detail {
namespace {

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

}  // namespace

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

}  // namespace fatlink::detail
