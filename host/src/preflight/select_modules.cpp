// SPDX-License-Identifier: Apache-2.0
// Which members of archives a link takes. As other linkers do: those that define what is missing,
// and what they need in turn. Unlike other linkers, an archive may stand before the input that
// needs it, and two members of one archive that define a missing name are both taken, so that
// preflight reports the duplicate.
#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "preflight/interface_queries.hpp"
#include "preflight/linked_entry.hpp"

namespace fatlink {
namespace {

/// A module of an input, in the order of the command line.
struct candidate {
  fatbin const* module = nullptr;
  std::size_t input = 0;  ///< its position among the inputs
  bool is_taken = false;
};

/// The candidates of one input that define a name.
struct definers {
  std::size_t input = 0;
  std::vector<std::size_t> strong;
  std::vector<std::size_t> weak;
};

bool is_archive(input const& file)
{
  return file.form() == input_form::archive;
}

class selection {
 public:
  selection(std::span<input const> inputs, preflight_request const& request)
      : choice_(detail::choice_of(request))
  {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      for (auto const& module : inputs[i].modules()) candidates_.push_back({&module, i});
    for (std::size_t i = 0; i < candidates_.size(); ++i) add_definitions(i);
  }

  void take_if(auto const& condition)
  {
    for (auto& candidate : candidates_)
      if (!candidate.is_taken && condition(candidate)) take(candidate);
  }

  void require(std::string_view name) { missing_.push_back(name); }

  /// Takes what defines the names that are missing, until none is left that a candidate defines.
  void complete()
  {
    for (; !missing_.empty(); missing_.pop_front())
      if (!defined_.contains(missing_.front())) take_definers(missing_.front());
  }

  [[nodiscard]] std::vector<fatbin> modules() const
  {
    std::vector<fatbin> taken;
    for (auto const& candidate : candidates_)
      if (candidate.is_taken) taken.push_back(*candidate.module);
    return taken;
  }

  [[nodiscard]] ptx_interface const& interface(candidate const& candidate) const
  {
    return interface_of(*candidate.module, choice_);
  }
  [[nodiscard]] bool is_opaque(candidate const& candidate) const
  {
    return fatlink::is_opaque(*candidate.module, choice_);
  }

 private:
  void add_definitions(std::size_t index)
  {
    auto const& offered = interface(candidates_[index]);
    for (auto const& function : offered.definitions) define(function.name, index, false);
    for (auto const& function : offered.weak) define(function.name, index, true);
    for (auto const& kernel : offered.kernels) define(kernel.name, index, kernel.is_weak);
    for (auto const& variable : offered.variables) define(variable.name, index, variable.is_weak);
  }

  void define(std::string_view name, std::size_t index, bool is_weak)
  {
    auto& inputs = definers_[name];
    if (inputs.empty() || inputs.back().input != candidates_[index].input)
      inputs.push_back({.input = candidates_[index].input, .strong = {}, .weak = {}});
    (is_weak ? inputs.back().weak : inputs.back().strong).push_back(index);
  }

  void take(candidate& candidate)
  {
    candidate.is_taken = true;
    auto const& offered = interface(candidate);
    for (auto const* functions : {&offered.definitions, &offered.weak, &offered.kernels})
      for (auto const& function : *functions) defined_.insert(function.name);
    for (auto const& variable : offered.variables) defined_.insert(variable.name);
    for (auto const& hook : offered.hooks)
      if (!detail::is_system_function(hook.name)) require(hook.name);
    for (auto const& variable : offered.external_variables)
      if (!detail::is_dynamic_shared(variable)) require(variable.name);
  }

  /// Of the first input that defines `name`: all strong definitions, else the first weak one.
  void take_definers(std::string_view name)
  {
    auto const position = definers_.find(name);
    if (position == definers_.end()) return;
    auto const& first = position->second.front();
    for (auto const index : first.strong)
      if (!candidates_[index].is_taken) take(candidates_[index]);
    if (first.strong.empty() && !candidates_[first.weak.front()].is_taken)
      take(candidates_[first.weak.front()]);
  }

  entry_choice choice_;
  std::vector<candidate> candidates_;
  std::map<std::string_view, std::vector<definers>> definers_;
  std::set<std::string_view> defined_;
  std::deque<std::string_view> missing_;
};

}  // namespace

std::vector<fatbin> select_modules(std::span<input const> inputs, preflight_request const& request)
{
  if (request.whole_archive || std::ranges::none_of(inputs, is_archive))
    return detail::modules_of(inputs);
  selection selected(inputs, request);
  selected.take_if([&](candidate const& module) {
    return !is_archive(inputs[module.input]) || selected.is_opaque(module);
  });
  for (auto const& kernel : request.kernels) selected.require(kernel);
  if (request.kernels.empty())
    selected.take_if([&](candidate const& module) {
      return module.input == 0 && !selected.interface(module).kernels.empty();
    });
  selected.complete();
  auto modules = selected.modules();
  return modules.empty() ? inputs.front().modules() : modules;
}

std::vector<finding> preflight(std::span<input const> inputs, preflight_request const& request)
{
  return preflight(select_modules(inputs, request), request);
}

}  // namespace fatlink
