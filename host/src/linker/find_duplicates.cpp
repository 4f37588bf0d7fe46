// SPDX-License-Identifier: Apache-2.0
#include "linker/find_duplicates.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "linker/observe_witness.hpp"
#include "linker/reachable_functions.hpp"
#include "linker/witness_ptx.hpp"
#include "nvjitlink/log.hpp"
#include "preflight/entries.hpp"
#include "preflight/rules.hpp"

namespace fatlink::detail {
namespace {

using candidates = std::vector<fatbin const*>;

template <typename Symbol>
bool contains(std::vector<Symbol> const& symbols, std::string_view name)
{
  return std::any_of(symbols.begin(), symbols.end(),
                     [&](Symbol const& symbol) { return symbol.name == name; });
}

bool defines(ptx_interface const& interface, std::string_view name)
{
  return contains(interface.definitions, name) || contains(interface.kernels, name) ||
         contains(interface.variables, name);
}

/// The names of the functions that readable inputs declare.
std::set<std::string> hook_names(std::vector<fatbin> const& inputs, link_options const& options)
{
  std::set<std::string> names;
  for (auto const& input : inputs)
    for (auto const& hook : interface_of(input, choice_of(options)).hooks) names.insert(hook.name);
  return names;
}

/// The last input of the name: if two have it, the earlier one holds the first definition.
fatbin const* find_last(std::vector<fatbin> const& inputs, std::string_view name)
{
  auto const input = std::find_if(inputs.rbegin(), inputs.rend(),
                                  [&](fatbin const& file) { return file.name() == name; });
  return input == inputs.rend() ? nullptr : &*input;
}

/// Finds the first definition of what `report` names, in an input before `second`.
class definer_search {
 public:
  definer_search(std::vector<fatbin> const& inputs, link_options const& options,
                 link_function const& link, reported_duplicate const& report, fatbin const& second)
      : inputs_(inputs), options_(options), link_(link), report_(report), second_(second)
  {
  }

  /// Null if no input can define it.
  fatbin const* find()
  {
    candidates opaque;
    for (auto const* input = inputs_.data(); input != &second_; ++input) {
      if (is_opaque(*input, choice_of(options_)))
        opaque.push_back(input);
      else if (defines(interface_of(*input, choice_of(options_)), report_.symbol))
        return input;
    }
    return opaque.empty() ? nullptr : narrow(std::move(opaque));
  }

 private:
  /// Halves `opaque`, of which one defines the symbol.
  fatbin const* narrow(candidates opaque) const
  {
    while (opaque.size() > 1) {
      auto const middle = opaque.begin() + static_cast<std::ptrdiff_t>(opaque.size() / 2);
      candidates const first(opaque.begin(), middle);
      opaque = conflicts(first) ? first : candidates(middle, opaque.end());
    }
    return opaque.front();
  }

  /// Whether a link of `first` and the second input reports the symbol.
  [[nodiscard]] bool conflicts(candidates const& first) const
  try {
    std::vector<link_input> parts;
    for (auto const* input : first) parts.push_back(write(*input));
    parts.push_back(write(second_));
    (void)link_(parts, check_options(inputs_, options_), image_kind::cubin);
    return false;
  } catch (link_error const& failed) {
    if (failed.details().code == "ETIMEDOUT") throw;
    auto const report = read_duplicate(failed.details().log);
    return report && report->symbol == report_.symbol;  // else the hook is undefined, for example
  }

  [[nodiscard]] link_input write(fatbin const& input) const
  {
    return link_input::write(input, *linked_entry(input, choice_of(options_)));
  }

  std::vector<fatbin> const& inputs_;
  link_options const& options_;
  link_function const& link_;
  reported_duplicate const& report_;
  fatbin const& second_;
};

/// Hooks that an input defines in an entry that is not LTO-IR, each declared and not defined, as
/// the witness needs them.
std::vector<stated_function> hooks_outside_of_lto(std::vector<fatbin> const& inputs,
                                                  link_options const& options)
{
  auto const names = hook_names(inputs, options);
  std::vector<stated_function> hooks;
  for (auto const& input : inputs) {
    if (linked_entry(input, choice_of(options))->kind == entry_kind::ltoir) continue;
    for (auto const& function : interface_of(input, choice_of(options)).definitions)
      if (names.contains(function.name)) hooks.push_back({function, input.name(), false});
  }
  return hooks;
}

}  // namespace

std::optional<reported_duplicate> read_duplicate(std::string const& log)
{
  for (auto const& line : lines_of(log)) {
    auto symbol = quoted_after(line, "Linking globals named '");
    auto const end = line.find(": link error: ");
    if (symbol.empty() || end == std::string::npos ||
        line.find("multiply defined") == std::string::npos)
      continue;
    return reported_duplicate{std::move(symbol), line.substr(0, end)};
  }
  return {};
}

std::vector<finding> find_reported_duplicate(std::string const& log,
                                             std::vector<fatbin> const& inputs,
                                             link_options const& options, link_function const& link)
{
  auto const report = read_duplicate(log);
  if (!report) return {};
  auto const* second = find_last(inputs, report->file);
  if (second == nullptr) return {};
  auto const* first = definer_search(inputs, options, link, *report, *second).find();
  if (first == nullptr) return {};
  return {duplicate_symbol(report->symbol, first->name(), second->name(),
                           hook_names(inputs, options).contains(report->symbol))};
}

std::vector<finding> find_ignored_duplicates(std::vector<fatbin> const& inputs,
                                             link_options const& options, link_function const& link)
{
  if (options.mode != link_mode::lto || !options.allow_calls) return {};
  auto const hooks = hooks_outside_of_lto(inputs, options);
  if (hooks.empty()) return {};
  auto const witness = write_witness(hooks);
  auto const texts = check_options(inputs, options);
  std::vector<finding> findings;
  for (auto const& input : inputs) {
    if (!is_opaque(input, choice_of(options))) continue;
    auto const observation = observe_witness(input, witness, options, texts, link);
    for (auto const& hook : hooks)
      if (!observation.undefined.contains(hook.function.name))
        findings.push_back(duplicate_symbol(hook.function.name, hook.file, input.name(), true));
  }
  return findings;
}

}  // namespace fatlink::detail
