// SPDX-License-Identifier: Apache-2.0
// Whether every hook is defined once, with the type its library declares.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "detail/format.hpp"
#include "detail/nearest.hpp"
#include "detail/preflight_rules.hpp"

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

struct definition {
  fatbin const* file;
  ptx_function const* function;
};

std::vector<definition> definitions_of(preflight_inputs const& inputs, std::string const& name)
{
  std::vector<definition> found;
  for (auto const& input : inputs)
    for (auto const* list : {&input.interface.definitions, &input.interface.weak})
      for (auto const& function : *list)
        if (function.name == name) found.push_back({input.file, &function});
  return found;
}

/// The definition most like `hook`; C++-mangled names hold it whole.
std::string nearest(preflight_inputs const& inputs, std::string const& hook)
{
  std::string best;
  auto best_distance = hook.size() / 2 + 1;
  for (auto const& input : inputs)
    for (auto const& function : input.interface.definitions) {
      auto const mangled = detail::format("_Z{}{}", hook.size(), hook);
      auto const distance =
          function.name.starts_with(mangled) ? 0 : edit_distance(function.name, hook);
      if (distance >= best_distance) continue;
      best_distance = distance;
      best = function.name;
    }
  return best;
}

/// The input that defines a variable of this name.
fatbin const* variable_of(preflight_inputs const& inputs, std::string const& name)
{
  for (auto const& input : inputs) {
    auto const& all = input.interface.variables;
    if (std::find(all.begin(), all.end(), name) != all.end()) return input.file;
  }
  return nullptr;
}

finding missing(preflight_inputs const& inputs, preflight_input const& library,
                ptx_function const& hook)
{
  auto hint = detail::format("pass a transform that defines {} (--transform, or one more input)",
                             hook.name);
  if (auto const* by = variable_of(inputs, hook.name); by != nullptr)
    hint = detail::format("{} defines a variable of that name: define a function", by->name());
  else if (auto const other = nearest(inputs, hook.name); other.starts_with("_Z"))
    hint = detail::format("{} is its C++ name: declare the definition extern \"C\"", other);
  else if (!other.empty())
    hint = detail::format("did you mean {}? Rename the definition to {}", other, hook.name);
  return {.id = "missing-hook",
          .severity = severity::error,
          .files = {library.file->name()},
          .symbol = hook.name,
          .message = detail::format("{} is defined by no input", to_string(hook)),
          .hint = std::move(hint)};
}

finding mismatch(preflight_input const& library, ptx_function const& hook, definition const& by)
{
  return {.id = "signature-mismatch",
          .severity = severity::error,
          .files = {library.file->name(), by.file->name()},
          .symbol = hook.name,
          .message = detail::format("{} declares {} and {} defines {}", library.file->name(),
                                    to_string(hook), by.file->name(), to_string(*by.function)),
          .hint = "define it with the type that the library's contract declares"};
}

bool lacks_ptx(preflight_input const& input)
{
  auto const& entries = input.file->entries();
  return std::none_of(entries.begin(), entries.end(),
                      [](auto const& entry) { return entry.kind == entry_kind::ptx; });
}

bool is_hook(preflight_inputs const& inputs, std::string const& name)
{
  return std::any_of(inputs.begin(), inputs.end(), [&](preflight_input const& input) {
    auto const& hooks = input.interface.hooks;
    return std::any_of(hooks.begin(), hooks.end(),
                       [&](ptx_function const& hook) { return hook.name == name; });
  });
}

bool same_type(ptx_function const& a, ptx_function const& b)
{
  return a.results == b.results && a.parameters == b.parameters;
}

}  // namespace

void check_hooks(preflight_inputs const& inputs, std::vector<finding>& findings)
{
  // LTO-IR alone shows no symbols: an input without PTX may well define any hook.
  auto const opaque = std::any_of(inputs.begin(), inputs.end(), lacks_ptx);
  for (auto const& input : inputs)
    for (auto const& hook : input.interface.hooks) {
      if (is_system_function(hook.name)) continue;
      auto const definitions = definitions_of(inputs, hook.name);
      if (definitions.empty() && !opaque) findings.push_back(missing(inputs, input, hook));
      for (auto const& by : definitions)
        if (!same_type(hook, *by.function)) findings.push_back(mismatch(input, hook, by));
    }
}

void check_duplicates(preflight_inputs const& inputs, std::vector<finding>& findings)
{
  std::map<std::string, fatbin const*> first;
  auto const note = [&](std::string const& name, fatbin const& file, bool is_hook) {
    auto const [entry, inserted] = first.emplace(name, &file);
    if (inserted) return;
    findings.push_back({.id = "duplicate-symbol",
                        .severity = severity::error,
                        .files = {entry->second->name(), file.name()},
                        .symbol = name,
                        .message = detail::format("{} is defined by {} and by {}", name,
                                                  entry->second->name(), file.name()),
                        .hint = is_hook
                                    ? "pass one of the two"
                                    : "pass one of the two, or declare what is private static"});
  };
  for (auto const& input : inputs) {
    for (auto const& kernel : input.interface.kernels) note(kernel.name, *input.file, true);
    for (auto const& function : input.interface.definitions)
      note(function.name, *input.file, is_hook(inputs, function.name));
    for (auto const& variable : input.interface.variables) note(variable, *input.file, false);
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
