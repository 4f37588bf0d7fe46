// SPDX-License-Identifier: Apache-2.0
// Whether every hook is defined once, and all that the inputs say of one name is of one type.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "detail/format.hpp"
#include "detail/function_types.hpp"
#include "detail/nearest.hpp"
#include "detail/symbol_index.hpp"

namespace fatlink::detail {
namespace {

// What the CUDA device runtime defines itself: CUDA C++ Programming Guide, "Formatted Output",
// "Assertion", "Dynamic Global Memory Allocation".
constexpr std::array<std::string_view, 5> k_system{"vprintf", "__assertfail", "malloc", "free",
                                                   "__assert_fail"};

}  // namespace

bool is_system_function(std::string_view name)
{
  return std::find(k_system.begin(), k_system.end(), name) != k_system.end();
}

namespace {

bool is_hook(symbol_group const& group)
{
  return std::any_of(group.functions.begin(), group.functions.end(),
                     [](auto const& symbol) { return symbol.role == symbol_role::hook; });
}

/// The definition most like `hook`, of those that fill no other hook; C++-mangled names hold it
/// whole.
std::string nearest(preflight_inputs const& inputs, symbol_index const& symbols,
                    std::string const& hook)
{
  std::string best;
  auto best_distance = hook.size() / 2 + 1;
  for (auto const& input : inputs)
    for (auto const& function : input.interface.definitions) {
      if (is_hook(symbols.find(function.name))) continue;
      auto const mangled = detail::format("_Z{}{}", hook.size(), hook);
      auto const distance =
          function.name.starts_with(mangled) ? 0 : edit_distance(function.name, hook);
      if (distance >= best_distance) continue;
      best_distance = distance;
      best = function.name;
    }
  return best;
}

std::string missing_hint(preflight_inputs const& inputs, symbol_index const& symbols,
                         ptx_function const& hook)
{
  auto const& group = symbols.find(hook.name);
  for (auto const& variable : group.variables)
    return detail::format("{} {} a variable of that name: define a function",
                          variable.input->file->name(),
                          variable.is_external ? "declares" : "defines");
  auto const other = nearest(inputs, symbols, hook.name);
  if (other.starts_with("_Z"))
    return detail::format("{} is its C++ name: declare the definition extern \"C\"", other);
  if (!other.empty())
    return detail::format("did you mean {}? Rename the definition to {}", other, hook.name);
  auto const advice = detail::format(
      "pass a transform that defines {} (--transform, or one more input)", hook.name);
  if (inputs.size() < 2) return advice;
  return advice + "; a definition that is inline or static does not count, nvcc removes it";
}

finding missing(preflight_inputs const& inputs, symbol_index const& symbols,
                preflight_input const& library, ptx_function const& hook)
{
  return {.id = "missing-hook",
          .severity = severity::error,
          .files = {library.file->name()},
          .symbol = hook.name,
          .message = detail::format("{} is defined by no input", to_string(hook)),
          .hint = missing_hint(inputs, symbols, hook)};
}

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

std::string mismatch_hint(function_symbol const& first, function_symbol const& second)
{
  if ((first.role == symbol_role::kernel) != (second.role == symbol_role::kernel))
    return "a kernel is no device function: rename one of the two";
  if (to_string(*first.function) == to_string(*second.function) &&
      first.function->parameters == second.function->parameters)
    return "define it with the type that the library declares; if it uses the bits of a float on "
           "purpose, build both with one contract (fatlink_add_fatbin(… CONTRACT …))";
  if (first.role == symbol_role::hook)
    return "define it with the type that the library's contract declares";
  return detail::format("define it with the type of {}'s, or rename one of the two",
                        first.input->file->name());
}

finding mismatch(function_symbol const& first, function_symbol const& second)
{
  auto const [own, other] = describe_types(*first.function, *second.function);
  return {.id = "signature-mismatch",
          .severity = severity::error,
          .files = {first.input->file->name(), second.input->file->name()},
          .symbol = first.function->name,
          .message = detail::format("{} {} {} and {} {} {}", first.input->file->name(),
                                    verb_of(first.role), own, second.input->file->name(),
                                    verb_of(second.role), other),
          .hint = mismatch_hint(first, second)};
}

finding uncertain(function_symbol const& first, function_symbol const& second)
{
  auto const [own, other] = describe_types(*first.function, *second.function);
  return {
      .id = "uncertain-type",
      .severity = severity::warning,
      .files = {first.input->file->name(), second.input->file->name()},
      .symbol = first.function->name,
      .message = detail::format(
          "{} uses {} and {} uses {}: another type, or the bits of the same one; int and float "
          "of one width cannot be told apart here",
          first.input->file->name(), own, second.input->file->name(), other),
      .hint = "build both with one contract (fatlink_add_fatbin(… CONTRACT …)), which checks it"};
}

bool is_strong(function_symbol const& symbol)
{
  return symbol.role == symbol_role::definition ||
         (symbol.role == symbol_role::kernel && !symbol.function->is_weak);
}

/// What all others of the name are compared with: a library's declaration, else what may be
/// replaced. Null where all are strong: they are duplicates.
function_symbol const* reference_of(symbol_group const& group)
{
  for (auto const& symbol : group.functions)
    if (symbol.role == symbol_role::hook) return &symbol;
  for (auto const& symbol : group.functions)
    if (!is_strong(symbol)) return &symbol;
  return nullptr;
}

void compare(function_symbol const& first, function_symbol const& second,
             std::vector<finding>& findings)
{
  auto const kernel_and_function =
      (first.role == symbol_role::kernel) != (second.role == symbol_role::kernel);
  auto const agreement =
      kernel_and_function ? type_agreement::different : compare_types(first, second);
  if (agreement == type_agreement::different) findings.push_back(mismatch(first, second));
  if (agreement == type_agreement::uncertain) findings.push_back(uncertain(first, second));
}

bool names_kernel(symbol_group const& group)
{
  return std::any_of(group.functions.begin(), group.functions.end(),
                     [](auto const& symbol) { return symbol.role == symbol_role::kernel; });
}

}  // namespace

void check_hooks(preflight_inputs const& inputs, symbol_index const& symbols,
                 std::vector<finding>& findings)
{
  // LTO-IR alone shows no symbols: an input without PTX may well define any hook.
  if (any_lacks_ptx(inputs)) return;
  for (auto const& input : inputs)
    for (auto const& hook : input.interface.hooks) {
      auto const& group = symbols.find(hook.name);
      if (is_system_function(hook.name) || is_function_defined(group) || names_kernel(group))
        continue;
      findings.push_back(missing(inputs, symbols, input, hook));
    }
}

void check_function_types(symbol_index const& symbols, std::vector<finding>& findings)
{
  for (auto const& group : symbols.groups()) {
    auto const* reference = reference_of(group);
    if (reference == nullptr || is_system_function(reference->function->name)) continue;
    for (auto const& symbol : group.functions)
      if (&symbol != reference) compare(*reference, symbol, findings);
  }
}

void check_duplicates(preflight_inputs const& inputs, symbol_index const& symbols,
                      std::vector<finding>& findings)
{
  std::map<std::string_view, fatbin const*> first;
  auto const add = [&](std::string const& name, fatbin const& file, bool is_shared_name) {
    auto const [entry, inserted] = first.emplace(name, &file);
    if (inserted) return;
    findings.push_back({.id = "duplicate-symbol",
                        .severity = severity::error,
                        .files = {entry->second->name(), file.name()},
                        .symbol = name,
                        .message = detail::format("{} is defined by {} and by {}", name,
                                                  entry->second->name(), file.name()),
                        .hint = is_shared_name
                                    ? "pass one of the two"
                                    : "pass one of the two, or declare what is private static"});
  };
  for (auto const& input : inputs) {
    for (auto const& kernel : input.interface.kernels)
      if (!kernel.is_weak) add(kernel.name, *input.file, true);
    for (auto const& function : input.interface.definitions)
      add(function.name, *input.file, is_hook(symbols.find(function.name)));
    for (auto const& variable : input.interface.variables)
      if (!variable.is_weak) add(variable.name, *input.file, false);
  }
}

void check_kernel(preflight_inputs const& inputs, preflight_request const& request,
                  std::vector<finding>& findings)
{
  if (request.kernel.empty()) return;
  std::vector<std::string> files;
  std::vector<std::string> known;
  for (auto const& input : inputs) {
    files.push_back(input.file->name());
    for (auto const& kernel : input.interface.kernels) known.push_back(kernel.name);
  }
  if (std::find(known.begin(), known.end(), request.kernel) != known.end()) return;
  auto const is_opaque = [](preflight_input const& input) { return input.is_opaque; };
  if (std::any_of(inputs.begin(), inputs.end(), is_opaque)) return;  // the linked image shows it
  auto hint = known.empty() ? std::string("pass the library's fatbin, which holds the kernels")
                            : detail::format("kernels there are: {}", fmt::join(known, ", "));
  findings.push_back({.id = "unknown-kernel",
                      .severity = severity::error,
                      .files = files,
                      .symbol = request.kernel,
                      .message = detail::format("kernel {} is in no input ({})", request.kernel,
                                                fmt::join(files, ", ")),
                      .hint = std::move(hint)});
}

}  // namespace fatlink::detail
