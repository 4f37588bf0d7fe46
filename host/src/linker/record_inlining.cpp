// SPDX-License-Identifier: Apache-2.0
#include "linker/record_inlining.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "fatlink/error.hpp"
#include "fatlink/preflight.hpp"
#include "linker/image_calls.hpp"
#include "linker/image_functions.hpp"
#include "preflight/entries.hpp"
#include "preflight/rules.hpp"
#include "preflight/symbols.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

std::set<std::string> without_system_functions(std::set<std::string> names)
{
  std::erase_if(names, [](std::string const& name) { return detail::is_system_function(name); });
  return names;
}

bool has_opaque(std::vector<fatbin> const& inputs, entry_choice const& choice)
{
  return std::ranges::any_of(inputs, [&](fatbin const& input) { return is_opaque(input, choice); });
}

/// Which inputs define which functions and kernels.
class definers {
 public:
  definers(std::vector<fatbin> const& inputs, entry_choice const& choice)
  {
    for (auto const& input : inputs) {
      auto const& interface = interface_of(input, choice);
      for (auto const& kernel : interface.kernels) inputs_of_[kernel.name].insert(&input);
      for (auto const* functions : {&interface.definitions, &interface.weak})
        for (auto const& function : *functions) {
          inputs_of_[function.name].insert(&input);
          functions_.insert(function.name);
        }
    }
  }

  [[nodiscard]] bool define(std::string const& function) const
  {
    return functions_.contains(function);
  }

  /// Whether the inputs that define `function` define `caller`.
  [[nodiscard]] bool define_both(std::string const& caller, std::string const& function) const
  {
    auto const inputs = inputs_of_.find(caller);
    return inputs != inputs_of_.end() && inputs->second == inputs_of_.at(function);
  }

 private:
  std::map<std::string, std::set<fatbin const*>> inputs_of_;
  std::set<std::string> functions_;
};

/// The functions left in the image that an input defines and others than its own functions and
/// kernels call, or whose callers are unknown: among them are the hooks that an opaque input calls.
std::set<std::string> find_called(linked_image const& image, definers const& inputs)
{
  std::map<std::string, std::vector<std::string>> callers;
  for (auto const& call : detail::calls_in(image)) callers[call.callee].push_back(call.caller);
  std::set<std::string> called;
  for (auto const& function : detail::functions_in(image)) {
    auto const inner = detail::split_inner_name(function).callee;
    auto const& name = inner.empty() ? function : inner;
    auto const is_own = [&](auto const& caller) { return inputs.define_both(caller, name); };
    if (inputs.define(name) &&
        (callers[name].empty() || !std::ranges::all_of(callers[name], is_own)))
      called.insert(name);
  }
  return called;
}

/// The hooks of all inputs that another input defines, and those that have a default.
std::set<std::string> filled_hooks(std::vector<fatbin> const& inputs, entry_choice const& choice)
{
  std::set<std::string> hook_names;
  std::set<std::string> defined;
  for (auto const& input : inputs) {
    auto const& interface = interface_of(input, choice);
    for (auto const& hook : interface.hooks) hook_names.insert(hook.name);
    hook_names.merge(detail::weak_hooks(input, choice));
    for (auto const& function : interface.definitions) defined.insert(function.name);
    for (auto const& function : interface.weak) defined.insert(function.name);
  }
  // The hooks of an opaque library cannot be read, so each definition may fill one.
  auto const is_readable = !has_opaque(inputs, choice);
  if (!is_readable && hook_names.empty()) return defined;
  if (!is_readable)
    return without_system_functions(std::move(hook_names));  // the link has succeeded
  std::erase_if(hook_names, [&](std::string const& name) { return !defined.contains(name); });
  return hook_names;
}

}  // namespace

void detail::record_inlining(linked_image& image, std::vector<fatbin> const& inputs,
                             entry_choice const& choice)
{
  detail::linked_functions const functions(detail::functions_in(image));
  auto hooks = filled_hooks(inputs, choice);
  if (has_opaque(inputs, choice)) hooks.merge(find_called(image, definers(inputs, choice)));
  auto const defaults = detail::default_hooks(inputs, choice);
  for (auto const& hook : hooks) {
    auto const inlined = functions.inlined(hook);
    auto const is_default = defaults.contains(hook);
    image.hooks.push_back({hook, inlined, is_default});
    if (image.mode == link_mode::lto && !inlined && !is_default)
      image.warnings.push_back(
          detail::format("{} was not inlined: the LTO link left a call to it", hook));
  }
}

void detail::check_inlined(linked_image const& image, std::vector<fatbin> const& inputs)
{
  for (auto const& hook : image.hooks) {
    if (hook.inlined || hook.is_default) continue;
    std::string names;
    for (auto const& input : inputs) names += (names.empty() ? "" : ", ") + input.name();
    throw link_error(
        stage::linker,
        {.message = detail::format("{}: {} was not inlined: the {} link left a call to it", names,
                                   hook.name, to_string(image.mode)),
         .input = names,
         .code = error_code::not_inlined,
         .hint =
             "a recursive, very large or __noinline__ function stays a call, and so do others "
             "with <link_options::optimization 0> or <link_options::fast_compile> max, and those "
             "of PTX "
             "or SASS"});
  }
}

}  // namespace fatlink
