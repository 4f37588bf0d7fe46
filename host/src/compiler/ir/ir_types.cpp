// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/ir_types.hpp"

#include <algorithm>

#include "compiler/ir/ir_signature.hpp"
#include "compiler/session/compile_key.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr unsigned k_first_opaque = 100;  ///< the first target whose pointers have no types
constexpr char const* k_module = "fatlink_types.ll";

bool has(std::vector<ptx_function> const& functions, std::string const& name)
{
  return std::ranges::any_of(functions, [&](auto const& entry) { return entry.name == name; });
}

std::string join(std::vector<std::string> const& types, bool are_named)
{
  std::string text;
  for (std::size_t i = 0; i < types.size(); ++i)
    text += detail::format("{}{}{}", i == 0 ? "" : ", ", types[i],
                           are_named ? detail::format(" %a{}", i) : std::string());
  return text;
}

/// The name of the function that calls the hook, which the source cannot define: it depends on the
/// source.
std::string caller_name(std::string const& hook, std::string const& source)
{
  return detail::format("fatlink_calls_{}_{}", hook, digest_of(source).substr(0, 16));
}

/// A function `name` that calls the hook.
std::string caller_of(std::string const& name, std::string const& hook, ir_signature const& type)
{
  auto const is_void = type.result == "void";
  return detail::format(
      "declare {0} @{1}({2})\n"
      "define {0} @{6}({3}) {{\n  {4}call {0} @{1}({3})\n  ret {5}\n}}\n",
      type.result, hook, join(type.parameters, false), join(type.parameters, true),
      is_void ? "" : "%r = ", is_void ? "void" : type.result + " %r", name);
}

/// A definition of the hook, for a source that calls it.
std::string definition_of(std::string const& hook, ir_signature const& type)
{
  return detail::format("define {0} @{1}({2}) {{\n  ret {3}\n}}\n", type.result, hook,
                        join(type.parameters, true),
                        type.result == "void" ? "void" : type.result + " undef");
}

/// Whether the PTX has the address of `name`: "mov.u64 %rd1, name;".
bool takes_address(std::string_view ptx, std::string const& name)
{
  auto const mark = detail::format(", {};", name);
  for (auto place = ptx.find(mark); place != std::string_view::npos;
       place = ptx.find(mark, place + 1)) {
    auto const line = ptx.substr(ptx.rfind('\n', place) + 1, 64);
    auto const first = std::min(line.find_first_not_of(" \t"), line.size());
    if (line.substr(first).starts_with("mov")) return true;
  }
  return false;
}

/// The body of the function `name` in the PTX.
std::string_view body_of(std::string_view ptx, std::string const& name)
{
  auto const start = ptx.find(detail::format(" {}(", name));
  if (start == std::string_view::npos) return {};
  auto const body = ptx.substr(start);
  return body.substr(0, body.find("\n}"));
}

std::string module_head()
{
  return detail::format(
      "target datalayout = \"{}\"\ntarget triple = \"nvptx64-nvidia-cuda\"\n"
      "!nvvmir.version = !{{!0}}\n!0 = !{{i32 2, i32 0}}\n",
      k_data_layout);
}

}  // namespace

std::optional<program> ir_type_probe(ir_subject const& subject, hook_types const& types)
{
  auto const& module = subject.module;
  auto const is_opaque = subject.architecture.number() >= k_first_opaque;
  std::string text;
  for (auto const& [hook, mangled] : types.mangled) {
    auto const is_defined = has(module.definitions, hook) || has(module.weak, hook);
    if (!is_defined && !has(module.hooks, hook)) continue;
    auto const type = ir_signature_of(mangled, is_opaque);
    if (!type) return std::nullopt;
    text += is_defined ? caller_of(caller_name(hook, subject.source.source), hook, *type)
                       : definition_of(hook, *type);
  }
  program probe{.name = subject.source.name, .source = subject.source.source};
  if (text.empty()) return probe;
  probe.headers = {{k_module, module_head() + text}};
  probe.compiles = {
      {.options = {"-arch=compute_" + subject.architecture.name().substr(3), "-opt=0"}}};
  return probe;
}

ir_agreement read_ir_agreement(std::string_view ptx, std::string_view own_ptx,
                               ir_subject const& subject, hook_types const& types)
{
  auto const& module = subject.module;
  auto agreement = ir_agreement::same;
  for (auto const& [hook, mangled] : types.mangled) {
    auto const is_defined = has(module.definitions, hook) || has(module.weak, hook);
    auto const text = is_defined ? body_of(ptx, caller_name(hook, subject.source.source)) : ptx;
    if (!takes_address(text, hook)) continue;
    // The source may take the address of what it calls.
    if (!has_only_numbers(mangled) || (!is_defined && takes_address(own_ptx, hook)))
      return ir_agreement::unknown;
    agreement = ir_agreement::different;
  }
  return agreement;
}

}  // namespace fatlink::detail
