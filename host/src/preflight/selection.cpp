// SPDX-License-Identifier: Apache-2.0
// Which members of archives a link takes, and what it keeps. As other linkers do, it takes the
// members that define what is missing, and what they need in turn. Unlike other linkers, all
// archives count as one, wherever they stand: all strong definitions of a missing name are taken,
// so that preflight reports a duplicate, and no order of archives hides one.
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/wording.hpp"
#include "preflight/entries.hpp"
#include "preflight/findings.hpp"
#include "preflight/rules.hpp"
#include "preflight/symbols.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::detail {
namespace {

finding unused_archive(input const& archive)
{
  return {.id = finding_id::unused_input,
          .severity = severity::warning,
          .files = {archive.name()},
          .message = detail::format("{} is not linked: its members define no missing symbol",
                                    archive.name()),
          .hint = in_words(
              "leave it out, pass the library whose kernel needs it, or link all of its members: "
              "<link_options::whole_archive>")};
}

}  // namespace

std::vector<finding> unused_archives(std::span<input const> inputs, std::span<fatbin const> modules)
{
  std::set<std::byte const*> selected;
  for (auto const& module : modules) selected.insert(module.bytes().data());
  auto const is_selected = [&](fatbin const& module) {
    return selected.contains(module.bytes().data());
  };
  std::vector<finding> findings;
  for (auto const& file : inputs)
    if (file.form() == input_form::archive && std::ranges::none_of(file.modules(), is_selected))
      findings.push_back(unused_archive(file));
  return findings;
}

}  // namespace fatlink::detail

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

namespace fatlink::detail {
namespace {

defined_names names_of(preflight_inputs const& inputs)
{
  defined_names names;
  for (auto const& input : inputs) {
    names.files.push_back(input.file->name());
    for (auto const& kernel : input.interface.kernels) names.kernels.push_back(kernel.name);
    for (auto const& variable : input.interface.variables) names.variables.push_back(variable.name);
  }
  return names;
}

/// "did you mean k7? kernels there are: k7, k8"
std::string suggest(std::string_view subject, std::string const& name,
                    std::vector<std::string> const& names, name_search& search)
{
  auto const prefix = detail::format("_Z{}{}", name.size(), name);
  auto const mangled = std::ranges::find_if(
      names, [&](std::string const& known) { return known.starts_with(prefix); });
  if (mangled != names.end())
    return detail::format("{0} is its C++ name: pass {0}, or declare it extern \"C\"", *mangled);
  auto const nearest = search.nearest(name);
  return detail::format("{}the {} are: {}",
                        nearest.empty() ? "" : detail::format("did you mean {}? ", nearest),
                        subject, list_names(names));
}

finding unknown_kernel(std::string const& kernel, defined_names const& defined, name_search& search)
{
  return {.id = finding_id::unknown_kernel,
          .severity = severity::error,
          .files = defined.files,
          .symbol = kernel,
          .message = detail::format("no input defines kernel {} ({})", kernel,
                                    fmt::join(defined.files, ", ")),
          .hint = defined.kernels.empty() ? "pass the library, which holds the kernels"
                                          : suggest("kernels", kernel, defined.kernels, search)};
}

finding unknown_variable(std::string const& variable, defined_names const& defined,
                         name_search& search)
{
  return {.id = finding_id::unknown_variable,
          .severity = severity::error,
          .files = defined.files,
          .symbol = variable,
          .message = detail::format("variable {} is defined by no input ({})", variable,
                                    fmt::join(defined.files, ", ")),
          .hint = defined.variables.empty()
                      ? "only variables that are neither static nor extern can be kept by name"
                      : suggest("variables", variable, defined.variables, search)};
}

/// Adds what `make` returns for each of `wanted` that `defined` lacks.
template <typename Make>
void add_unknown(std::vector<std::string> const& wanted, std::vector<std::string> const& defined,
                 Make const& make, std::vector<finding>& findings)
{
  if (wanted.empty()) return;
  std::vector<std::string_view> const views(defined.begin(), defined.end());
  std::set<std::string_view> const names(views.begin(), views.end());
  name_search search(views);
  finding_limit unknown(findings);
  for (auto const& name : wanted)
    if (!names.contains(name)) unknown.add([&] { return make(name, search); });
  unknown.finish();
}

}  // namespace

std::vector<finding> find_unknown(std::vector<std::string> const& kernels,
                                  std::vector<std::string> const& variables,
                                  defined_names const& defined)
{
  std::vector<finding> findings;
  add_unknown(
      kernels, defined.kernels,
      [&](auto const& name, auto& search) { return unknown_kernel(name, defined, search); },
      findings);
  add_unknown(
      variables, defined.variables,
      [&](auto const& name, auto& search) { return unknown_variable(name, defined, search); },
      findings);
  return findings;
}

void check_kept(preflight_inputs const& inputs, preflight_request const& request,
                std::vector<finding>& findings)
{
  if (request.kernels.empty() && request.variables.empty()) return;
  auto const is_opaque = [](preflight_input const& input) { return input.is_opaque; };
  if (std::any_of(inputs.begin(), inputs.end(), is_opaque)) return;  // the link shows them
  auto unknown = find_unknown(request.kernels, request.variables, names_of(inputs));
  std::move(unknown.begin(), unknown.end(), std::back_inserter(findings));
}

}  // namespace fatlink::detail
