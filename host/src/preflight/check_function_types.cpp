// SPDX-License-Identifier: Apache-2.0
// Whether all that the inputs say of one function is of one type. Cubins state widths only, or
// nothing; so all are compared with the declaration that states most, wherever it stands among the
// inputs.
#include <algorithm>
#include <compare>
#include <iterator>
#include <utility>

#include "preflight/finding_limit.hpp"
#include "preflight/function_types.hpp"
#include "preflight/interface_queries.hpp"
#include "preflight/symbol_index.hpp"
#include "ptx/ptx_accesses.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
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
      .message = detail::format(
          "{} uses {} and {} uses {}: another type, or the bits of the same one; int and float "
          "of one width cannot be told apart here",
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
          "compile it again (nvcc -cubin -rdc=true), without taking the address of the "
          "function in it, or pass it as PTX or LTO-IR; a damaged file looks alike"};
}

finding unstated(function_symbol const& hook, function_symbol const& definition)
{
  return {.id = finding_id::unchecked_types,
          .severity = severity::warning,
          .files = {hook.input->file->name(), definition.input->file->name()},
          .symbol = hook.function->name,
          .message = detail::format(
              "{} takes the address of {} and does not state its types, so those of {} in {} are "
              "compared with nothing",
              hook.input->file->name(), hook.function->name, to_string(*definition.function),
              definition.input->file->name()),
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

}  // namespace fatlink::detail
