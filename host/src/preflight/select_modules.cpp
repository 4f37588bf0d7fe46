// SPDX-License-Identifier: Apache-2.0
// Which members of archives a link takes. As other linkers do: those that define what is missing,
// and what they need in turn. Unlike other linkers, all archives count as one, wherever they stand:
// all strong definitions of a missing name are taken, so that preflight reports a duplicate,
// and no order of archives hides one.
#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "preflight/interface_queries.hpp"
#include "preflight/linked_entry.hpp"
#include "preflight/unused_archives.hpp"
#include "util/text/nearest.hpp"

namespace fatlink {
namespace {

/// A module of an input, in the order of the command line.
struct candidate {
  fatbin const* module = nullptr;
  std::size_t input = 0;   ///< its position among the inputs
  bool is_member = false;  ///< of an archive; all others are taken
  bool is_taken = false;
};

using candidates = std::vector<candidate*>;

/// The candidates that define a name.
struct definers {
  candidates strong;
  candidates weak;
};

bool is_archive(input const& file)
{
  return file.form() == input_form::archive;
}

bool is_taken(candidate const* candidate)
{
  return candidate->is_taken;
}

std::vector<candidate> candidates_of(std::span<input const> inputs)
{
  std::vector<candidate> list;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (auto const& module : inputs[i].modules())
      list.push_back({.module = &module, .input = i, .is_member = is_archive(inputs[i])});
  return list;
}

class selection {
 public:
  selection(std::span<input const> inputs, preflight_request const& request)
      : choice_(detail::choice_of(request)), candidates_(candidates_of(inputs))
  {
    for (auto& candidate : candidates_) add_definitions(candidate);
    take_if([&](candidate const& module) { return !module.is_member || is_unreadable(module); });
  }

  void require(std::string_view name)
  {
    if (required_.insert(name).second) missing_.push_back(name);
  }

  [[nodiscard]] bool has_kernel(std::string_view name) const { return kernels_.contains(name); }

  /// Takes the members with kernels: of the first input, which is the library; if nothing that is
  /// taken has kernels, of all archives.
  void take_kernels()
  {
    take_if([&](candidate const& module) { return module.input == 0 && holds_kernel(module); });
    auto const is_library = [&](candidate const& module) {
      return module.is_taken && holds_kernel(module);
    };
    if (std::ranges::none_of(candidates_, is_library))
      take_if([&](candidate const& module) { return holds_kernel(module); });
  }

  /// Takes what defines the names that are missing, until none is left that a candidate defines.
  void complete()
  {
    while (!missing_.empty() || !weakly_defined_.empty()) {
      auto& names = missing_.empty() ? weakly_defined_ : missing_;
      auto const name = names.front();
      names.pop_front();
      if (&names == &missing_)
        take_definers(name);
      else
        take_weak(name);
    }
  }

  /// Takes members that explain why a name is defined nowhere: they define it for themselves
  /// only, or a similar one, or its C++ name. Not members that have no entry for the link, because
  /// that would be reported first.
  void take_explanations()
  {
    if (undefined_.empty() || std::ranges::any_of(candidates_, [&](candidate const& module) {
          return module.is_taken && is_unreadable(module);
        }))
      return;
    std::vector<std::string_view> names;
    for (auto const& [name, modules] : definers_) names.push_back(name);
    detail::name_search search(names, detail::name_search::prefixes::are_compared);
    auto const hidden = hidden_names();
    for (auto const name : std::exchange(undefined_, {})) {
      if (auto const own = hidden.find(name); own != hidden.end()) take_if_linked(*own->second);
      auto const mangled =
          search.find_prefix("_Z" + std::to_string(name.size()) + std::string(name));
      auto const similar = definers_.find(mangled.empty() ? search.nearest(name) : mangled);
      if (similar == definers_.end()) continue;
      for (auto* module : similar->second.strong) take_if_linked(*module);
    }
    complete();
  }

  [[nodiscard]] std::vector<fatbin> modules() const
  {
    std::vector<fatbin> taken;
    for (auto const& candidate : candidates_)
      if (candidate.is_taken) taken.push_back(*candidate.module);
    return taken;
  }

 private:
  using definer_map = std::map<std::string_view, definers>;

  [[nodiscard]] ptx_interface const& interface(candidate const& candidate) const
  {
    return interface_of(*candidate.module, choice_);
  }
  [[nodiscard]] bool holds_kernel(candidate const& candidate) const
  {
    return !interface(candidate).kernels.empty();
  }
  /// Whether its symbols cannot be read: it has LTO-IR only, or LTO-IR that its PTX does not show.
  [[nodiscard]] bool is_unreadable(candidate const& candidate) const
  {
    return is_opaque(*candidate.module, choice_) ||
           (!detail::has_entry(*candidate.module, entry_kind::ptx) &&
            !detail::has_entry(*candidate.module, entry_kind::elf));
  }

  void take_if(auto const& condition)
  {
    for (auto& candidate : candidates_)
      if (!candidate.is_taken && condition(candidate)) take(candidate);
  }

  void add_definitions(candidate& module)
  {
    auto const define = [&](std::string_view name, bool is_weak) {
      auto& modules = definers_[name];
      (is_weak ? modules.weak : modules.strong).push_back(&module);
    };
    auto const& offered = interface(module);
    for (auto const& function : offered.definitions) define(function.name, false);
    for (auto const& function : offered.weak) define(function.name, true);
    for (auto const& variable : offered.variables) define(variable.name, variable.is_weak);
    for (auto const& kernel : offered.kernels) {
      define(kernel.name, kernel.is_weak);
      kernels_.insert(kernel.name);
    }
  }

  /// A weak function that it defines is required, too: a strong definition replaces it.
  void take(candidate& candidate)
  {
    candidate.is_taken = true;
    auto const& offered = interface(candidate);
    for (auto const* functions : {&offered.hooks, &offered.weak})
      for (auto const& function : *functions)
        if (!detail::is_system_function(function.name)) require(function.name);
    for (auto const& variable : offered.external_variables)
      if (!detail::is_dynamic_shared(variable)) require(variable.name);
  }

  void take_if_linked(candidate& module)
  {
    if (!module.is_taken && linked_entry(*module.module, choice_) != nullptr) take(module);
  }

  /// All strong definitions, unless an input that is no archive has one.
  void take_definers(std::string_view name)
  {
    auto const position = definers_.find(name);
    if (position == definers_.end()) return undefined_.push_back(name);
    auto const& strong = position->second.strong;
    if (strong.empty()) return weakly_defined_.push_back(name);
    if (!std::ranges::all_of(strong, &candidate::is_member)) return;
    for (auto* module : strong)
      if (!module->is_taken) take(*module);
  }

  /// The first weak definition, unless one is taken.
  void take_weak(std::string_view name)
  {
    auto const& weak = definers_.at(name).weak;
    if (std::ranges::none_of(weak, is_taken)) take(*weak.front());
  }

  /// The functions that members define for themselves only, with the first of these.
  [[nodiscard]] std::map<std::string_view, candidate*> hidden_names()
  {
    std::map<std::string_view, candidate*> names;
    for (auto& module : candidates_)
      if (!module.is_taken)
        for (auto const& name : interface(module).hidden) names.emplace(name, &module);
    return names;
  }

  entry_choice choice_;
  std::vector<candidate> candidates_;
  definer_map definers_;
  std::set<std::string_view> kernels_;   ///< of all candidates
  std::set<std::string_view> required_;  ///< each name once
  std::deque<std::string_view> missing_;
  std::deque<std::string_view> weakly_defined_;
  std::vector<std::string_view> undefined_;
};

}  // namespace

std::vector<fatbin> select_modules(std::span<input const> inputs, preflight_request const& request)
{
  if (request.whole_archive || std::ranges::none_of(inputs, is_archive))
    return detail::modules_of(inputs);
  selection selected(inputs, request);
  for (auto const* names : {&request.kernels, &request.variables})
    for (auto const& name : *names) selected.require(name);
  auto const is_known = [&](std::string const& name) { return selected.has_kernel(name); };
  if (request.kernels.empty() || !std::ranges::all_of(request.kernels, is_known))
    selected.take_kernels();
  selected.complete();
  selected.take_explanations();
  auto modules = selected.modules();
  return modules.empty() ? detail::modules_of(inputs) : modules;
}

std::vector<finding> preflight(std::span<input const> inputs, preflight_request const& request)
{
  auto const modules = select_modules(inputs, request);
  auto findings = preflight(modules, request);
  std::ranges::move(detail::unused_archives(inputs, modules), std::back_inserter(findings));
  return findings;
}

}  // namespace fatlink
