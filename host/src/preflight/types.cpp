// SPDX-License-Identifier: Apache-2.0
// Types of functions: whether all that the inputs state about one function is of one type. Cubins
// state widths only, or nothing; so all are compared with the declaration that states most,
// wherever it stands among the inputs. Inputs with LTO-IR and no PTX of the same architecture show
// no types; the link checks them (linker/check_opaque_inputs.hpp) against what the other inputs
// state.

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <compare>
#include <iterator>
#include <utility>

#include "input/ltoir.hpp"
#include "preflight/entries.hpp"
#include "preflight/findings.hpp"
#include "preflight/rules.hpp"
#include "preflight/symbols.hpp"
#include "ptx/ptx_accesses.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// The width of a parameter, as far as a cubin states it: scalars of at most 32 bits are alike.
struct width {
  bool is_aggregate = false;
  unsigned long bytes = 0;
  bool operator==(width const&) const = default;
};

width width_of(ptx_parameter const& parameter)
{
  constexpr unsigned long k_register_bytes = 4;
  unsigned long bits = 0;
  auto const* const text = parameter.type.data();
  auto const digits = parameter.type.find_first_of("0123456789");
  if (digits != std::string::npos)
    std::from_chars(text + digits, text + parameter.type.size(), bits);
  if (parameter.count != 0) return {true, bits / 8 * parameter.count};
  return {false, std::max(bits / 8, k_register_bytes)};
}

bool same_widths(std::vector<ptx_parameter> const& a, std::vector<ptx_parameter> const& b)
{
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto const& one, auto const& other) {
    return width_of(one) == width_of(other);
  });
}

bool same_sizes(std::vector<ptx_parameter> const& a, std::vector<ptx_parameter> const& b)
{
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto const& one, auto const& other) {
    return parameter_bytes(one) == parameter_bytes(other);
  });
}

/// Compares as much as a cubin states: nothing, or the widths.
bool same_coarsely(ptx_function const& a, ptx_function const& b)
{
  if (a.is_untyped || b.is_untyped) return true;
  return same_widths(a.results, b.results) && same_widths(a.parameters, b.parameters) &&
         a.is_variadic == b.is_variadic;
}

bool same_declaration(ptx_function const& a, ptx_function const& b)
{
  if (a.is_coarse || b.is_coarse) return same_coarsely(a, b);
  return a.results == b.results && a.parameters == b.parameters && a.is_variadic == b.is_variadic;
}

bool is_body(symbol_role role)
{
  return role != symbol_role::hook;
}

/// One is used as a float and the other as an integer.
bool access_kinds_differ(ptx_parameter const& a, ptx_parameter const& b)
{
  auto const kind_a = kind_of(a.accessed_as);
  auto const kind_b = kind_of(b.accessed_as);
  if (kind_a == scalar_kind::unknown || kind_b == scalar_kind::unknown) return false;
  return (kind_a == scalar_kind::floating) != (kind_b == scalar_kind::floating);
}

/// Compares `read`, the parameter of a body, with `passed`: compilers read 32 bits of a float as an
/// integer if the source uses its bits, and rarely 8 or 16.
type_agreement compare_read(ptx_parameter const& read, ptx_parameter const& passed)
{
  if (!access_kinds_differ(read, passed)) return type_agreement::same;
  return kind_of(read.accessed_as) == scalar_kind::narrow_integer ? type_agreement::different
                                                                  : type_agreement::uncertain;
}

type_agreement compare_parameter(function_symbol const& a, function_symbol const& b,
                                 std::size_t position)
{
  auto const& parameter_a = a.function->parameters[position];
  auto const& parameter_b = b.function->parameters[position];
  if (!is_body(a.role) && !is_body(b.role))
    return access_kinds_differ(parameter_a, parameter_b) ? type_agreement::different
                                                         : type_agreement::same;
  return std::max(is_body(a.role) ? compare_read(parameter_a, parameter_b) : type_agreement::same,
                  is_body(b.role) ? compare_read(parameter_b, parameter_a) : type_agreement::same);
}

bool results_differ(ptx_function const& a, ptx_function const& b)
{
  for (std::size_t i = 0; i < a.results.size(); ++i)
    if (access_kinds_differ(a.results[i], b.results[i])) return true;
  return false;
}

bool of_one_contract(preflight_input const& a, preflight_input const& b)
{
  return a.ident && b.ident && !a.ident->contract.empty() &&
         a.ident->contract == b.ident->contract && a.ident->version == b.ident->version;
}

/// The function with each scalar's type replaced by the type that its instructions state.
ptx_function as_accessed(ptx_function function)
{
  for (auto* list : {&function.results, &function.parameters})
    for (auto& parameter : *list)
      if (!parameter.accessed_as.empty()) parameter.type = parameter.accessed_as;
  return function;
}

}  // namespace

unsigned long parameter_bytes(ptx_parameter const& parameter)
{
  auto const scalar = ptx_parameter{.type = parameter.type, .count = 1};
  return width_of(scalar).bytes * std::max(parameter.count, 1UL);
}

type_agreement compare_types(function_symbol const& a, function_symbol const& b)
{
  auto const is_coarse = a.function->is_coarse || b.function->is_coarse;
  if (is_coarse && a.role == symbol_role::kernel)
    return same_sizes(a.function->parameters, b.function->parameters) ? type_agreement::same
                                                                      : type_agreement::different;
  if (!same_declaration(*a.function, *b.function)) return type_agreement::different;
  if (a.role == symbol_role::kernel || is_coarse) return type_agreement::same;
  if (results_differ(*a.function, *b.function)) return type_agreement::different;
  if (of_one_contract(*a.input, *b.input)) return type_agreement::same;
  auto worst = type_agreement::same;
  for (std::size_t i = 0; i < a.function->parameters.size(); ++i)
    worst = std::max(worst, compare_parameter(a, b, i));
  return worst;
}

std::pair<std::string, std::string> describe_types(ptx_function const& a, ptx_function const& b)
{
  auto const differ = [](auto const& texts) { return texts.first != texts.second; };
  if (auto texts = std::pair(to_string(a), to_string(b)); differ(texts)) return texts;
  if (auto texts = std::pair(to_string(a, with_alignment::yes), to_string(b, with_alignment::yes));
      differ(texts))
    return texts;
  return {to_string(as_accessed(a)), to_string(as_accessed(b))};
}

namespace {

char const* verb_of(symbol_role role)
{
  switch (role) {
    case symbol_role::hook:
      return "declares";
    case symbol_role::weak_definition:
      return "defines the weak default";
    case symbol_role::kernel:
      return "defines the kernel";
    case symbol_role::definition:
      break;
  }
  return "defines";
}

/// Whether the declarations differ in nothing but the alignment of structs.
bool differ_in_alignment_only(ptx_function const& a, ptx_function const& b)
{
  return to_string(a) == to_string(b) &&
         to_string(a, with_alignment::yes) != to_string(b, with_alignment::yes);
}

std::string advise_on_mismatch(function_symbol const& a, function_symbol const& b)
{
  if ((a.role == symbol_role::kernel) != (b.role == symbol_role::kernel))
    return "a kernel is not a device function: rename one of the two";
  if (differ_in_alignment_only(*a.function, *b.function))
    return "compilers align struct parameters differently: clang to at least 4 bytes, nvcc as the "
           "struct; compile both with one compiler, or pass the struct by address";
  if (to_string(*a.function) == to_string(*b.function) &&
      a.function->parameters == b.function->parameters)
    return "define it with the type that the library declares; if it uses the bits of a float on "
           "purpose, build both with one contract (fatlink_add_fatbin(… CONTRACT …))";
  if (a.role == symbol_role::hook)
    return "define it with the type that the library's contract declares";
  return detail::format("define it with the type of {}'s, or rename one of the two",
                        a.input->file->name());
}

finding refuse_types(function_symbol const& a, function_symbol const& b)
{
  auto const [own, other] = describe_types(*a.function, *b.function);
  return {.id = finding_id::signature_mismatch,
          .severity = severity::error,
          .files = {a.input->file->name(), b.input->file->name()},
          .symbol = a.function->name,
          .message = detail::format("{} {} {} and {} {} {}", a.input->file->name(), verb_of(a.role),
                                    own, b.input->file->name(), verb_of(b.role), other),
          .hint = advise_on_mismatch(a, b)};
}

finding uncertain(function_symbol const& a, function_symbol const& b)
{
  auto const [own, other] = describe_types(*a.function, *b.function);
  return {
      .id = finding_id::uncertain_type,
      .severity = severity::warning,
      .files = {a.input->file->name(), b.input->file->name()},
      .symbol = a.function->name,
      .message =
          detail::format("{} uses {} and {} uses {}: a different type, or the bits of the same "
                         "type; int and float of one width cannot be distinguished here",
                         a.input->file->name(), own, b.input->file->name(), other),
      .hint = "build both with one contract (fatlink_add_fatbin(… CONTRACT …)), which checks it"};
}

/// Whether the caller states the types and the definition, in a cubin, does not: ptxas states those
/// of all that it defines, except for functions whose address is taken. A damaged cubin looks
/// alike.
bool lacks_types(function_symbol const& hook, function_symbol const& definition)
{
  return hook.role == symbol_role::hook && definition.role != symbol_role::hook &&
         !hook.function->is_untyped && definition.function->is_untyped;
}

finding make_unchecked_function(function_symbol const& hook, function_symbol const& definition)
{
  return {
      .id = finding_id::unchecked_types,
      .severity = severity::error,
      .files = {hook.input->file->name(), definition.input->file->name()},
      .symbol = hook.function->name,
      .message = detail::format("{} declares {}, and the SASS of {} does not state the types of {}",
                                hook.input->file->name(), to_string(*hook.function),
                                definition.input->file->name(), hook.function->name),
      .hint =
          "compile it again (nvcc -cubin -rdc=true), without taking the address of the function in "
          "it, or pass it as PTX or LTO-IR; the file may also be damaged"};
}

finding unstated(function_symbol const& hook, function_symbol const& definition)
{
  return {
      .id = finding_id::unchecked_types,
      .severity = severity::warning,
      .files = {hook.input->file->name(), definition.input->file->name()},
      .symbol = hook.function->name,
      .message = detail::format("{} takes the address of {} and does not state its types, so those "
                                "of {} in {} are not compared",
                                hook.input->file->name(), hook.function->name,
                                to_string(*definition.function), definition.input->file->name()),
      .hint = detail::format("pass {} as PTX or LTO-IR, which state the types",
                             hook.input->file->name())};
}

bool is_hook(function_symbol const& symbol)
{
  return symbol.role == symbol_role::hook;
}

bool is_strong(function_symbol const& symbol)
{
  return symbol.role == symbol_role::definition ||
         (symbol.role == symbol_role::kernel && !symbol.function->is_weak);
}

/// Of each result and parameter, in this order: whether it is known to be a float or an integer.
std::vector<bool> known_kinds(function_symbol const& symbol)
{
  std::vector<bool> known;
  for (auto const* list : {&symbol.function->results, &symbol.function->parameters})
    for (auto const& parameter : *list)
      known.push_back(kind_of(parameter.accessed_as) != scalar_kind::unknown);
  return known;
}

/// How much a declaration states: nothing, widths, or types; then how many of its results and
/// parameters are known to be floats or integers.
struct precision {
  int form = 0;
  std::ptrdiff_t kinds = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): see toolkit_version
  friend auto operator<=>(precision const&, precision const&) = default;
};

precision precision_of(function_symbol const& symbol)
{
  auto const& function = *symbol.function;
  auto const known = known_kinds(symbol);
  return {.form = function.is_untyped  ? 0
                  : function.is_coarse ? 1
                                       : 2,
          .kinds = std::count(known.begin(), known.end(), true)};
}

/// The functions of `group`, those that state most first: hooks before what may be replaced.
std::vector<function_symbol const*> by_precision(symbol_group const& group)
{
  struct ranked {
    precision rank;
    function_symbol const* symbol;
  };
  std::vector<ranked> all;
  for (auto const& symbol : group.functions) all.push_back({precision_of(symbol), &symbol});
  std::stable_sort(all.begin(), all.end(),
                   [](ranked const& a, ranked const& b) { return a.rank > b.rank; });
  std::vector<function_symbol const*> symbols;
  for (auto const& entry : all) symbols.push_back(entry.symbol);
  return symbols;
}

/// Sets the bits of `known` that `symbol` adds; false if there are none.
bool add_known(std::vector<bool>& known, function_symbol const& symbol)
{
  auto const own = known_kinds(symbol);
  known.resize(std::max(known.size(), own.size()));
  auto is_new = false;
  for (std::size_t i = 0; i < own.size(); ++i) {
    is_new |= own[i] && !known[i];
    known[i] = known[i] || own[i];
  }
  return is_new;
}

/// What the others of the name are compared with. The first is a declaration, else what may be
/// replaced; those after it state more of some parameter. Empty where all are strong: they are
/// duplicates.
std::vector<function_symbol const*> references_of(symbol_group const& group)
{
  constexpr std::size_t k_most = 8;
  auto const symbols = by_precision(group);
  auto first = std::find_if(symbols.begin(), symbols.end(),
                            [](auto const* symbol) { return is_hook(*symbol); });
  if (first == symbols.end())
    first = std::find_if(symbols.begin(), symbols.end(),
                         [](auto const* symbol) { return !is_strong(*symbol); });
  if (first == symbols.end()) return {};
  std::vector references{*first};
  std::vector<bool> known;
  add_known(known, **first);
  auto form = precision_of(**first).form;
  for (auto const* symbol : symbols) {
    if (references.size() == k_most) break;
    auto const own_form = precision_of(*symbol).form;
    if (!add_known(known, *symbol) && own_form <= form) continue;
    references.push_back(symbol);
    form = std::max(form, own_form);
  }
  return references;
}

type_agreement agreement_of(function_symbol const& a, function_symbol const& b)
{
  auto const kernel_and_function =
      (a.role == symbol_role::kernel) != (b.role == symbol_role::kernel);
  return kernel_and_function ? type_agreement::different : compare_types(a, b);
}

/// Reports on the functions of one name after the other.
class type_check {
 public:
  explicit type_check(std::vector<finding>& findings)
      : findings_(findings), mismatches_(findings), untyped_(findings)
  {
  }

  void check(symbol_group const& group)
  {
    if (group.functions.size() < 2) return;
    auto const references = references_of(group);
    if (references.empty() || is_system_function(references.front()->function->name)) return;
    for (auto const& symbol : group.functions) {
      compare_with(references, symbol);
      if (lacks_types(*references.front(), symbol))
        untyped_.add([&] { return make_unchecked_function(*references.front(), symbol); });
    }
    warn_if_unstated(*references.front(), group);
  }

  void finish()
  {
    mismatches_.finish();
    untyped_.finish();
    uncertainties_.finish();
    unstated_.finish();
    std::move(warnings_.begin(), warnings_.end(), std::back_inserter(findings_));
    std::move(uncertain_.begin(), uncertain_.end(), std::back_inserter(findings_));
  }

 private:
  /// Compares each pair once, up to the first that differs.
  void compare_with(std::vector<function_symbol const*> const& references,
                    function_symbol const& symbol)
  {
    for (auto const* reference : references) {
      if (reference == &symbol) return;
      if (is_strong(*reference) && is_strong(symbol)) continue;  // duplicates
      auto const is_reversed = is_strong(*reference) || is_hook(symbol);
      auto const agreement = reference != references.front() && is_reversed
                                 ? report(symbol, *reference)
                                 : report(*reference, symbol);
      if (agreement != type_agreement::same) return;
    }
  }

  type_agreement report(function_symbol const& a, function_symbol const& b)
  {
    auto const agreement = agreement_of(a, b);
    if (agreement == type_agreement::different) mismatches_.add([&] { return refuse_types(a, b); });
    if (agreement == type_agreement::uncertain) uncertainties_.add([&] { return uncertain(a, b); });
    return agreement;
  }

  void warn_if_unstated(function_symbol const& hook, symbol_group const& group)
  {
    if (!is_hook(hook) || !hook.function->is_untyped) return;
    auto const definition =
        std::find_if_not(group.functions.begin(), group.functions.end(), is_hook);
    if (definition != group.functions.end())
      unstated_.add([&] { return unstated(hook, *definition); });
  }

  std::vector<finding>& findings_;
  std::vector<finding> warnings_;
  std::vector<finding> uncertain_;
  finding_limit mismatches_;
  finding_limit untyped_;
  finding_limit uncertainties_{uncertain_};
  finding_limit unstated_{warnings_};
};

}  // namespace

void check_function_types(symbol_index const& symbols, std::vector<finding>& findings)
{
  type_check check(findings);
  for (auto const& group : symbols.groups()) check.check(group);
  check.finish();
}

namespace {

std::string describe_opaque(preflight_input const& input, preflight_request const& request)
{
  auto const name = linked_entry(*input.file, choice_of(request))->target.name();
  return detail::format("{} holds LTO-IR for {} and no PTX that states its types",
                        input.file->name(), name);
}

/// Whether it is a file of raw LTO-IR, beside which there is no PTX.
bool is_raw(preflight_input const& input)
{
  auto const& entries = input.file->entries();
  return entries.size() == 1 && entries.front().compression == compression::none &&
         is_ltoir(entries.front().payload);
}

std::string advise_compile(preflight_input const& input, preflight_request const& request)
{
  auto const name = linked_entry(*input.file, choice_of(request))->target.name();
  if (is_raw(input))
    return detail::format(
        "raw LTO-IR cannot state them; compile its source to a fatbin, whose PTX does: "
        "nvcc -dlto -fatbin -arch={0} FILE.cu -o FILE.fatbin, or fatlink compile",
        name);
  return detail::format(
      "compile {1} with nvcc -dc -gencode 'arch=compute_{0},code=[compute_{0},lto_{0}]', or with "
      "fatlink compile --arch {0}",
      name.substr(name.find('_') + 1), input.file->name());
}

finding unreadable(preflight_input const& input, preflight_request const& request)
{
  return {.id = finding_id::unreadable_types,
          .severity = severity::warning,
          .files = {input.file->name()},
          .message = detail::format("{}; only the link compares them, by number and width of the "
                                    "parameters (float and int are not distinguished)",
                                    describe_opaque(input, request)),
          .hint = advise_compile(input, request)};
}

finding make_unchecked_types(std::vector<preflight_input> const& inputs,
                             preflight_request const& request)
{
  std::vector<std::string> names;
  for (auto const& input : inputs) names.push_back(input.file->name());
  return {.id = finding_id::unchecked_types,
          .severity = severity::error,
          .files = names,
          .message = detail::format("{}: no input states the types of its functions: each holds "
                                    "LTO-IR without PTX of the same architecture",
                                    fmt::join(names, ", ")),
          .hint = advise_compile(inputs.back(), request)};
}

}  // namespace

void check_types(preflight_inputs const& inputs, preflight_request const& request,
                 std::vector<finding>& findings)
{
  auto const is_opaque = [](preflight_input const& input) { return input.is_opaque; };
  if (inputs.size() > 1 && std::all_of(inputs.begin(), inputs.end(), is_opaque))
    return findings.push_back(make_unchecked_types(inputs, request));
  for (auto const& input : inputs)
    if (input.is_opaque) findings.push_back(unreadable(input, request));
}

namespace {

// Arguments that a library does not pass to a hook. nvcc sees that the library's weak default does
// not use a parameter, and then stores no value for it in the calls, although another definition
// may replace the default; that one reads whatever the register or the stack holds.
// Source: PTX of nvcc 13.0. Its LTO-IR passes all arguments.

/// The definition that replaces a default, in a link that keeps the call.
struct replacement {
  preflight_input const* input;
  ptx_function const* function;
};

/// What the PTX of `input` says of its functions: cubins do not show what they read and pass.
ptx_interface const& ptx_of(preflight_input const& input, preflight_request const& request)
{
  return interface_of(*input.file, {request.target, link_mode::ptx});
}

/// The PTX of the definition, if there is any, or what its cubin says.
ptx_function const* find_ptx(function_symbol const& symbol, preflight_request const& request)
{
  for (auto const& function : ptx_of(*symbol.input, request).definitions)
    if (function.name == symbol.function->name) return &function;
  return symbol.function;
}

std::optional<replacement> find_replacement(preflight_input const& library,
                                            symbol_group const& group,
                                            preflight_request const& request)
{
  for (auto const& symbol : group.functions) {
    if (symbol.role != symbol_role::definition || symbol.input == &library) continue;
    auto const* const entry = linked_entry(*symbol.input->file, choice_of(request));
    if (entry != nullptr && entry->kind != entry_kind::ltoir)
      return replacement{symbol.input, find_ptx(symbol, request)};
  }
  return std::nullopt;
}

/// "argument 2 (b64)" or "arguments 2 (b64), 4 (b32)".
std::string list_unpassed(ptx_function const& function)
{
  std::vector<std::string> list;
  for (std::size_t i = 0; i < function.parameters.size(); ++i)
    if (auto const& parameter = function.parameters[i]; parameter.is_unpassed)
      list.push_back(detail::format(
          "{} ({})", i + 1,
          parameter.count == 0 ? parameter.type
                               : detail::format("{}[{}]", parameter.type, parameter.count)));
  return detail::format("argument{} {}", list.size() == 1 ? "" : "s", list_names(list));
}

bool is_unpassed(ptx_function const& function)
{
  return std::ranges::any_of(function.parameters,
                             [](ptx_parameter const& parameter) { return parameter.is_unpassed; });
}

/// Whether `reader` may read a parameter that calls of `weak` leave out.
bool reads_unpassed(ptx_function const& weak, ptx_function const& reader)
{
  for (std::size_t i = 0; i < weak.parameters.size() && i < reader.parameters.size(); ++i)
    if (weak.parameters[i].is_unpassed && !reader.parameters[i].is_unread) return true;
  return false;
}

finding unpassed(preflight_input const& library, ptx_function const& hook, std::string consequence)
{
  return {
      .id = finding_id::unpassed_argument,
      .severity = severity::warning,
      .files = {library.file->name()},
      .symbol = hook.name,
      .message = detail::format("{} passes nothing for {} of {}, because its default does not "
                                "use it; {}",
                                library.file->name(), list_unpassed(hook), hook.name, consequence),
      .hint =
          "use every parameter in the library's default, for example asm volatile(\"\" :: "
          "\"l\"(state)), or link in lto mode"};
}

finding replaced(preflight_input const& library, ptx_function const& hook,
                 replacement const& transform)
{
  auto const reads = reads_unpassed(hook, *transform.function);
  auto result = unpassed(library, hook,
                         detail::format("{}, which replaces it, {}", transform.input->file->name(),
                                        reads ? "would read garbage" : "does not read it"));
  result.severity = reads ? severity::error : severity::warning;
  result.files.push_back(transform.input->file->name());
  return result;
}

/// Whether the contract of `library` states that others may define the function.
bool states_hook(preflight_input const& library, ptx_function const& function)
{
  return library.ident && library.ident->hooks.contains(function.name);
}

}  // namespace

void check_unpassed_arguments(preflight_inputs const& inputs, symbol_index const& symbols,
                              preflight_request const& request, std::vector<finding>& findings)
{
  finding_limit errors(findings);
  finding_limit warnings(findings);
  for (auto const& library : inputs)
    for (auto const& function : ptx_of(library, request).weak) {
      if (!is_unpassed(function)) continue;
      auto const& group = symbols.find(function.name);
      if (auto const transform = find_replacement(library, group, request))
        (reads_unpassed(function, *transform->function) ? errors : warnings).add([&] {
          return replaced(library, function, *transform);
        });
      else if (request.mode != link_mode::lto && states_hook(library, function) &&
               !group.has_other(symbol_role::definition, library))
        warnings.add([&] {
          return unpassed(library, function,
                          "a transform that reads it will not link in this mode");
        });
    }
  errors.finish();
  warnings.finish();
}

}  // namespace fatlink::detail
