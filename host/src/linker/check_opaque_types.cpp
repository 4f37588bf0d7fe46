// SPDX-License-Identifier: Apache-2.0
#include "linker/check_opaque_types.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "linker/observe_witness.hpp"
#include "linker/reachable_functions.hpp"
#include "linker/witness_ptx.hpp"
#include "preflight/entries.hpp"
#include "preflight/rules.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

bool same_type(ptx_function const& a, ptx_function const& b)
{
  return a.results == b.results && a.parameters == b.parameters;
}

class checker {
 public:
  checker(std::vector<fatbin> const& inputs, link_options const& options)
      : inputs_(inputs), options_(options)
  {
    for (auto const& input : inputs)
      if (is_opaque(input, choice_of(options)))
        opaque_.push_back(&input);
      else
        state(input);
  }

  std::vector<finding> check(link_function const& link)
  {
    if (opaque_.empty() || (opaque_.size() == 1 && functions_.empty() && variables_.empty()))
      return {};
    auto const witness = write_witness(values_of(functions_), values_of(variables_));
    auto const texts = check_options(inputs_, options_);
    for (auto const* input : opaque_) {
      report(*input, read_reachable(*input, options_, texts, link));
      report(*input, observe(*input, witness, texts, link));
    }
    report_missing();
    return std::move(findings_);
  }

 private:
  /// Without optimization, which takes a tenth of the time: a witness keeps every function of the
  /// input. With it, if code that an optimization may remove needs another function.
  [[nodiscard]] witness_observation observe(fatbin const& input, std::string const& witness,
                                            std::vector<std::string> const& texts,
                                            link_function const& link) const
  {
    auto quick = texts;
    quick.emplace_back("-O0");
    auto const observed = observe_witness(input, witness, options_, quick, link);
    auto const is_stated = [this](std::string const& name) {
      return functions_.contains(name) || variables_.contains(name);
    };
    if (std::ranges::all_of(observed.undefined, is_stated)) return observed;
    return observe_witness(input, witness, options_, texts, link);
  }

  /// Records what `input`, a readable one, declares and defines.
  void state(fatbin const& input)
  {
    auto const choice = choice_of(options_);
    auto const& interface = interface_of(input, choice);
    for (auto const* list : {&interface.definitions, &interface.weak})
      for (auto const& function : *list) record(function, input, true);
    for (auto const& function : interface.hooks) record(function, input, false);
    for (auto const& variable : interface.variables)
      variables_.insert_or_assign(variable.name, stated_variable{variable, input.name(), true});
    for (auto const& variable : interface.external_variables)
      if (variable.space != "shared")
        variables_.emplace(variable.name, stated_variable{variable, input.name(), false});
  }

  void record(ptx_function const& function, fatbin const& input, bool is_defined)
  {
    if (is_system_function(function.name) || function.is_variadic) return;
    auto& stated = functions_[function.name];
    if (stated.file.empty() || (is_defined && !stated.is_defined))
      stated = {function, input.name(), is_defined};
  }

  template <typename Stated>
  [[nodiscard]] static std::vector<Stated> values_of(std::map<std::string, Stated> const& stated)
  {
    std::vector<Stated> list;
    for (auto const& [name, value] : stated) list.push_back(value);
    return list;
  }

  void report(fatbin const& input, ptx_interface const& reachable)
  {
    for (auto const* list : {&reachable.definitions, &reachable.hooks})
      for (auto const& function : *list)
        if (auto const stated = functions_.find(function.name);
            stated != functions_.end() && !same_type(stated->second.function, function))
          report(input, stated->second, to_string(function));
  }

  void report(fatbin const& input, witness_observation const& observed)
  {
    for (auto const& name : observed.mismatched)
      if (auto const stated = functions_.find(name); stated != functions_.end())
        report(input, stated->second, name + " with another type");
    for (auto const& [name, stated] : functions_)
      if (!stated.is_defined && !observed.undefined.contains(name)) filled_.insert(name);
    for (auto const& [name, stated] : variables_) {
      if (observed.mismatched.contains(name)) findings_.push_back(mismatch(input, stated));
      if (!observed.undefined.contains(name)) filled_.insert(name);
    }
    for (auto const& name : observed.undefined)
      if (!functions_.contains(name) && !variables_.contains(name))
        findings_.push_back(unstated(input, name));
  }

  void report_missing()
  {
    for (auto const& [name, stated] : functions_)
      if (!stated.is_defined && !filled_.contains(name)) findings_.push_back(missing(stated));
    for (auto const& [name, stated] : variables_)
      if (!stated.is_defined && !filled_.contains(name)) findings_.push_back(missing(stated));
  }

  [[nodiscard]] static finding mismatch(fatbin const& input, stated_variable const& stated)
  {
    return {
        .id = finding_id::signature_mismatch,
        .severity = severity::error,
        .files = {stated.file, input.name()},
        .symbol = stated.variable.name,
        .message = detail::format(
            "{} {} {}, and the LTO-IR of {} has it with another size or memory space", stated.file,
            stated.is_defined ? "defines" : "declares", to_string(stated.variable), input.name()),
        .hint = "declare and define it with one type, size and memory space"};
  }

  [[nodiscard]] static finding missing(stated_variable const& stated)
  {
    return {.id = finding_id::missing_variable,
            .severity = severity::error,
            .files = {stated.file},
            .symbol = stated.variable.name,
            .message = detail::format("{} declares {}, and no input shows a definition of it",
                                      stated.file, to_string(stated.variable)),
            .hint = "define it in one of the inputs, neither static nor extern"};
  }

  /// Once for each function of `input`: its LTO-IR has `other`.
  void report(fatbin const& input, stated_function const& stated, std::string const& other_type)
  {
    if (!reported_.emplace(&input, stated.function.name).second) return;
    findings_.push_back(
        {.id = finding_id::signature_mismatch,
         .severity = severity::error,
         .files = {stated.file, input.name()},
         .symbol = stated.function.name,
         .message = detail::format("{} {} {}, and the LTO-IR of {} has {}", stated.file,
                                   stated.is_defined ? "defines" : "declares",
                                   to_string(stated.function), input.name(), other_type),
         .hint = "compile both with the type that the library's contract declares"});
  }

  /// `input` needs a function whose type no readable input states.
  [[nodiscard]] finding unstated(fatbin const& input, std::string const& name) const
  {
    auto const is_only = opaque_.size() == 1;
    return {.id = is_only ? finding_id::missing_hook : finding_id::unchecked_types,
            .severity = severity::error,
            .files = {input.name()},
            .symbol = name,
            .message =
                detail::format("{} calls {}, {}", input.name(), name,
                               is_only ? "which is defined by no input"
                                       : "which no input with readable types declares or defines"),
            .hint = is_only ? detail::format("pass a transform that defines {}", name)
                            : detail::format("compile the input that defines {} with "
                                             "code=[compute_NN,lto_NN], NN its architecture",
                                             name)};
  }

  [[nodiscard]] static finding missing(stated_function const& stated)
  {
    return {.id = finding_id::missing_hook,
            .severity = severity::error,
            .files = {stated.file},
            .symbol = stated.function.name,
            .message = detail::format("{} declares {}, and no input shows a definition of it",
                                      stated.file, to_string(stated.function)),
            .hint = detail::format("pass a transform that defines {}; one that holds kernels, too, "
                                   "shows it only with PTX: code=[compute_NN,lto_NN]",
                                   stated.function.name)};
  }

  std::vector<fatbin> const& inputs_;
  link_options const& options_;
  std::vector<fatbin const*> opaque_;
  std::map<std::string, stated_function> functions_;
  std::map<std::string, stated_variable> variables_;
  std::set<std::string> filled_;  ///< by an opaque input
  std::set<std::pair<fatbin const*, std::string>> reported_;
  std::vector<finding> findings_;
};

}  // namespace

std::vector<finding> check_opaque_types(std::vector<fatbin> const& inputs,
                                        link_options const& options, link_function const& link)
{
  if (options.mode != link_mode::lto) return {};
  return checker(inputs, options).check(link);
}

}  // namespace fatlink::detail
