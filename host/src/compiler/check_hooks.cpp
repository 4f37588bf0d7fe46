// SPDX-License-Identifier: Apache-2.0
#include "compiler/check_hooks.hpp"

#include <algorithm>

#include "compiler/installed_contract.hpp"
#include "compiler/llvm_ir.hpp"
#include "fatlink/error.hpp"
#include "fatlink/finding.hpp"
#include "preflight/symbols.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::detail {
namespace {

ptx_function const* find_function(std::vector<ptx_function> const& functions,
                                  std::string const& name)
{
  auto const function = std::find_if(functions.begin(), functions.end(),
                                     [&](auto const& entry) { return entry.name == name; });
  return function == functions.end() ? nullptr : &*function;
}

std::vector<std::string> names_in(ptx_interface const& module)
{
  std::vector<std::string> names;
  for (auto const* functions : {&module.definitions, &module.weak, &module.kernels})
    for (auto const& function : *functions) names.push_back(function.name);
  names.insert(names.end(), module.hidden.begin(), module.hidden.end());
  return names;
}

/// "no function", "the kernel half" or "gelu": what may have been meant as the hook.
std::string describe_definitions(ptx_interface const& module)
{
  constexpr std::size_t k_shown_letters = 100;
  if (!module.kernels.empty())
    return "the kernel " + module.kernels.front().name.substr(0, k_shown_letters);
  auto const names = names_in(module);
  return names.empty() ? "no function" : names.front().substr(0, k_shown_letters);
}

std::string hint_for(ptx_interface const& module, installed_contract const& contract)
{
  auto const names = names_in(module);
  for (auto const& name : names)
    if (auto const hint = other_contract_hint(name, contract); !hint.empty())
      return detail::format("{}; {}", hint, contract.declaration_hint(contract.hooks.front()));
  for (auto const& hook : contract.hooks) {
    auto const declaration = contract.declaration_of(hook);
    auto const holds = [&](auto const& test) {
      return std::any_of(names.begin(), names.end(), test);
    };
    if (holds([&](std::string const& name) { return name != hook && is_mangled(name, hook); }))
      return detail::format("declare it extern \"C\": {}", declaration);
    if (holds([&](std::string const& name) { return name == hook; }))
      return detail::format("define it as a device function that other files can call: {}",
                            declaration);
    if (auto const name = nearest(names, hook); !name.empty())
      return detail::format("it defines {}; did you mean {}? the contract declares: {}", name, hook,
                            declaration);
  }
  auto hint = contract.declaration_hint(contract.hooks.front());
  if (auto const macro = macro_of(contract.hooks.front(), contract); !macro.empty())
    hint += detail::format(", which {} defines", macro);
  if (!module.kernels.empty())
    return detail::format("define a __device__ function, which the library's kernel calls; {}",
                          hint);
  return names.empty() ? hint + " (a static or inline definition does not count)" : hint;
}

[[noreturn]] void fail_hook(compile_subject const& subject, code_text code,
                            std::string const& cause, std::string hint)
{
  throw compile_error(stage::compiler, {.message = detail::format("{}: {}", subject.name, cause),
                                        .input = subject.name,
                                        .code = std::move(code),
                                        .hint = std::move(hint)});
}

code_text code_of(finding_id id)
{
  return vendor_code(to_string(id));
}

/// Whether `text` has only white space and comments.
bool is_blank(std::string_view text)
{
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n\f\v"), text.size()));
    if (!text.starts_with(';')) return text.empty();
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
}

/// Whether a line of `text` begins as one of LLVM IR does, at its top level.
bool is_ir(std::string_view text)
{
  constexpr std::string_view k_starts[] = {
      "define ",    "declare ", "target ", "module asm ", "source_filename",
      "attributes", "@",        "%",       "!",           "$"};
  for (std::size_t start = 0; start < text.size();) {
    auto const line = text.substr(std::min(text.find_first_not_of(" \t", start), text.size()));
    if (std::ranges::any_of(k_starts, [&](auto word) { return line.starts_with(word); }))
      return true;
    start = std::min(text.find('\n', start), text.size() - 1) + 1;
  }
  return false;
}

std::string declaration_hint(compile_subject const& subject, std::string const& hook)
{
  return subject.contract->declaration_hint(hook);
}

void check_types(ptx_interface const& module, compile_subject const& subject,
                 hook_types const& types)
{
  for (auto const& hook : types.declarations) {
    auto const* definition = find_function(module.definitions, hook.name);
    if (definition == nullptr) definition = find_function(module.weak, hook.name);
    if (definition == nullptr) continue;
    if (definition->results == hook.results && definition->parameters == hook.parameters) continue;
    fail_hook(subject, code_of(finding_id::signature_mismatch),
              detail::format("defines {}, and the contract {} declares {}", to_string(*definition),
                             subject.contract->title(), to_string(hook)),
              declaration_hint(subject, hook.name));
  }
}

}  // namespace

void check_hooks(fatbin const& code, compile_subject const& subject, hook_types const& types)
{
  auto const& contract = *subject.contract;
  for (auto const& entry : code.entries()) {
    if (entry.kind != entry_kind::ptx) continue;
    auto const& module = code.interface(entry);
    auto const fills_or_calls = [&](std::string const& hook) {
      return find_function(module.definitions, hook) != nullptr ||
             find_function(module.weak, hook) != nullptr ||
             find_function(module.hooks, hook) != nullptr;
    };
    if (std::none_of(contract.hooks.begin(), contract.hooks.end(), fills_or_calls))
      fail_hook(subject, code_of(finding_id::missing_hook),
                detail::format("neither defines nor calls a hook of the contract {}; it defines {}",
                               contract.title(), describe_definitions(module)),
                hint_for(module, contract));
    check_types(module, subject, types);
  }
}

void refuse_declarations(compile_subject const& subject)
{
  fail_hook(subject, code_of(finding_id::signature_mismatch),
            detail::format("macros (-D) or folders (-I) of the compile change what the contract {} "
                           "declares",
                           subject.contract->title()),
            detail::format("rename the macro, or the file that hides a header which the contract "
                           "includes; {}",
                           declaration_hint(subject, subject.contract->hooks.front())));
}

bool is_empty(fatbin const& code)
{
  for (auto const& entry : code.entries()) {
    if (entry.kind != entry_kind::ptx) continue;
    auto const& module = code.interface(entry);
    return names_in(module).empty() && module.hooks.empty() && module.variables.empty() &&
           module.external_variables.empty();
  }
  return false;
}

void check_ir_types(std::string_view text, compile_subject const& subject, hook_types const& types,
                    ir_agreement agreement)
{
  for (auto const& [hook, mangled] : types.mangled) {
    auto const definition = find_ir_definition(text, hook);
    if (!definition || agrees(*definition, mangled)) continue;
    fail_hook(subject, code_of(finding_id::signature_mismatch),
              detail::format("defines {} with the type {}, which is not that of the contract {}",
                             hook, to_string(*definition), subject.contract->title()),
              declaration_hint(subject, hook));
  }
  if (agreement == ir_agreement::different)
    fail_hook(subject, code_of(finding_id::signature_mismatch),
              detail::format("defines or calls a hook with another type than the contract {}",
                             subject.contract->title()),
              declaration_hint(subject, subject.contract->hooks.front()));
}

void check_libdevice(fatbin const& code, compile_subject const& subject,
                     std::string const& libdevice)
{
  for (auto const& entry : code.entries()) {
    if (entry.kind != entry_kind::ptx) continue;
    for (auto const& function : code.interface(entry).hooks) {
      if (!function.name.starts_with("__nv_")) continue;
      if (!libdevice.empty())
        fail_hook(subject, error_code::compile_failed,
                  detail::format("calls {}, which libdevice does not have", function.name),
                  "correct the name: __nv_sin is for double, __nv_sinf for float");
      throw unavailable_error(
          stage::compiler,
          {.message = detail::format("{}: calls {} of libdevice, and no libdevice.10.bc belongs to "
                                     "this libNVVM",
                                     subject.name, function.name),
           .input = subject.name,
           .code = error_code::nvvm_unavailable,
           .hint = "install all of libNVVM (NVIDIA's apt repository: libnvvm-13-0; pip install "
                   "nvidia-nvvm), which has nvvm/libdevice/libdevice.10.bc"});
    }
  }
}

void check_ir_text(std::string_view text, compile_subject const& subject)
{
  if (is_blank(text)) {
    constexpr char const* k_cause = "is empty: it defines no function";
    if (subject.contract == nullptr)
      fail_hook(subject, error_code::compile_failed, k_cause, "pass LLVM IR with a function");
    fail_hook(subject, code_of(finding_id::missing_hook), k_cause,
              declaration_hint(subject, subject.contract->hooks.front()));
  }
  if (!is_ir(text))
    fail_hook(subject, error_code::compile_failed, "is not LLVM IR",
              "a file of CUDA C++ must be named .cu; LLVM IR has lines such as: define float "
              "@f(float %x) {");
  if (text.find("datalayout") == std::string_view::npos)
    fail_hook(subject, error_code::compile_failed, "states no target datalayout",
              detail::format("add: target datalayout = \"{}\"", k_data_layout));
}

}  // namespace fatlink::detail
