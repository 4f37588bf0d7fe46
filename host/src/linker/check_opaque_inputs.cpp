// SPDX-License-Identifier: Apache-2.0
#include "linker/check_opaque_inputs.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "linker/check_links.hpp"
#include "linker/image_functions.hpp"
#include "preflight/entries.hpp"
#include "preflight/rules.hpp"
#include "toolkit/link_in_process.hpp"
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
      if (observed.mismatched.contains(name))
        findings_.push_back(make_signature_mismatch(input, stated));
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

  [[nodiscard]] static finding make_signature_mismatch(fatbin const& input,
                                                       stated_variable const& stated)
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
    if (opaque_.size() == 1)
      return missing_hook(input.name(), name, name,
                          detail::format("pass a transform that defines {}", name));
    return {.id = finding_id::unchecked_types,
            .severity = severity::error,
            .files = {input.name()},
            .symbol = name,
            .message = detail::format(
                "{} calls {}, which no input with readable types declares or defines", input.name(),
                name),
            .hint = detail::format("compile the input that defines {} with "
                                   "code=[compute_NN,lto_NN], where NN is its architecture",
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
            .hint = detail::format("pass a transform that defines {}; an input with kernels shows "
                                   "its definitions only with PTX: code=[compute_NN,lto_NN]",
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

namespace {

void add(image_symbols& symbols, ptx_interface const& interface)
{
  for (auto const& kernel : interface.kernels) symbols.kernels.push_back(kernel.name);
  for (auto const& variable : interface.variables) symbols.variables.push_back(variable.name);
}

std::vector<std::string> names_of(std::vector<fatbin> const& inputs)
{
  std::vector<std::string> names;
  for (auto const& input : inputs) names.push_back(input.name());
  return names;
}

/// The findings for the names in `options` that `symbols` lacks.
std::vector<finding> find_missing(image_symbols const& symbols, std::vector<fatbin> const& inputs,
                                  link_options const& options)
{
  return find_unknown(options.kernels, options.variables,
                      {names_of(inputs), symbols.kernels, symbols.variables});
}

}  // namespace

std::vector<finding> find_unknown_symbols(std::vector<fatbin> const& inputs,
                                          link_options const& options, link_function const& link)
{
  if (options.kernels.empty() && options.variables.empty()) return {};
  image_symbols symbols;
  std::vector<fatbin const*> opaque;
  for (auto const& input : inputs)
    if (is_opaque(input, choice_of(options)))
      opaque.push_back(&input);
    else
      add(symbols, interface_of(input, choice_of(options)));
  auto findings = find_missing(symbols, inputs, options);
  if (findings.empty() || opaque.empty()) return findings;
  auto const texts = check_options(inputs, options);
  for (auto const* input : opaque) add(symbols, read_reachable(*input, options, texts, link));
  return find_missing(symbols, inputs, options);
}

void check_kept(bytes_view image, std::vector<fatbin> const& inputs, link_options const& options)
{
  if (options.kernels.empty() && options.variables.empty()) return;
  auto findings = find_missing(symbols_in(options.emit, image), inputs, options);
  if (!findings.empty()) throw refused_error(options.target, std::move(findings));
}

}  // namespace fatlink::detail
