// SPDX-License-Identifier: Apache-2.0
// Arguments that a library does not pass to a hook. nvcc sees that the library's weak default does
// not use a parameter, and then stores no value for it in the calls, although another definition
// may replace the default; that one reads whatever the register or the stack holds.
// Source: PTX of nvcc 13.0. Its LTO-IR passes all arguments.
#include <algorithm>

#include "preflight/finding_limit.hpp"
#include "preflight/linked_entry.hpp"
#include "preflight/symbol_index.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

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
