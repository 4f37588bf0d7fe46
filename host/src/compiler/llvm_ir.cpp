// SPDX-License-Identifier: Apache-2.0
#include "compiler/llvm_ir.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "compiler/compile_with_headers.hpp"
#include "fatlink/error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::string_view k_spaces = " \t\r\n";
constexpr std::string_view k_define = "define";
constexpr char const* k_unknown = "?";

/// The type that `word` spells, or "?".
std::string type_of(std::string_view word)
{
  if (word.ends_with('*') || word == "ptr") return "ptr";
  auto const is_name = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !word.empty() && std::all_of(word.begin(), word.end(), is_name) ? std::string(word)
                                                                         : k_unknown;
}

/// Of "float noundef %x": the type is first, attributes and the name follow.
std::string parameter_type(std::string_view text)
{
  if (text.find('*') != std::string_view::npos) return "ptr";
  return type_of(text.substr(0, text.find_first_of(k_spaces)));
}

/// The parameters between the parentheses that open before `text`.
std::vector<std::string> read_parameters(std::string_view text)
{
  std::vector<std::string> types;
  std::size_t start = 0;
  int depth = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto const letter = text[i];
    if (std::string_view("([{<").find(letter) != std::string_view::npos) ++depth;
    if (std::string_view(")]}>").find(letter) != std::string_view::npos) --depth;
    if (depth > 1 || (depth == 1 && letter != ',')) continue;
    auto const parameter = trim(text.substr(start, i - start));
    if (!parameter.empty()) types.push_back(parameter_type(parameter));
    if (depth == 0) return types;
    start = i + 1;
  }
  return types;
}

/// Of "define dso_local float @name(": attributes are before the type.
std::string result_type(std::string_view text)
{
  text = trim(text);
  return type_of(text.substr(text.find_last_of(k_spaces) + 1));
}

/// The type of the definition whose "define" ends before `text`, if its name is `name`. Only then
/// is more than a line read.
std::optional<ir_signature> read_definition(std::string_view text, std::string_view name)
{
  auto const at = text.find_first_of("@;\n");
  if (at == std::string_view::npos || text[at] != '@') return std::nullopt;
  auto rest = text.substr(at + 1);
  auto const is_quoted = rest.starts_with('"');
  if (is_quoted) rest.remove_prefix(1);
  if (!rest.starts_with(name)) return std::nullopt;
  rest.remove_prefix(name.size());
  if (!rest.starts_with(is_quoted ? "\"(" : "(")) return std::nullopt;
  return ir_signature{result_type(text.substr(0, at)),
                      read_parameters(rest.substr(is_quoted ? 2 : 1))};
}

/// Takes the next type off `mangled`: its name in LLVM IR, or "?".
std::string take_type(std::string_view& mangled)
{
  auto const is_pointer = mangled.starts_with('P');
  mangled.remove_prefix(std::min(mangled.find_first_not_of("PKV"), mangled.size()));
  if (mangled.empty()) return k_unknown;
  auto const letter = mangled.front();
  mangled.remove_prefix(1);
  if (std::string_view("vbcahstijlmxyfd").find(letter) == std::string_view::npos) {
    mangled = {};  // a class, an array: where it ends is not known
    return is_pointer ? "ptr" : k_unknown;
  }
  if (is_pointer) return "ptr";
  switch (letter) {
    case 'f':
      return "float";
    case 'd':
      return "double";
    case 'i':
    case 'j':
      return "i32";
    case 'l':
    case 'm':
    case 'x':
    case 'y':
      return "i64";
    case 'v':
      return "void";
    default:
      return k_unknown;  // narrow integers may be widened
  }
}

/// A pointer to what `mangled` begins with, for LLVM 7.
std::string typed_pointer(std::string_view mangled)
{
  mangled.remove_prefix(std::min(mangled.find_first_not_of("PKV"), mangled.size()));
  auto const pointee = take_type(mangled);
  return (pointee == k_unknown || pointee == "void" ? "i8" : pointee) + "*";
}

/// Whether `type` of LLVM IR is one that is compared.
bool is_compared(std::string_view type)
{
  constexpr std::string_view k_types[] = {"float", "double", "i32", "i64", "ptr", "void"};
  return std::find(std::begin(k_types), std::end(k_types), type) != std::end(k_types);
}

bool agree(std::string_view a, std::string_view b)
{
  auto const is_address = [](std::string_view type) { return type == "ptr" || type == "i64"; };
  return a == b || !is_compared(a) || !is_compared(b) || (is_address(a) && is_address(b));
}

}  // namespace

std::string to_string(ir_signature const& signature)
{
  auto text = signature.result + " (";
  for (auto const& parameter : signature.parameters) {
    if (&parameter != signature.parameters.data()) text += ", ";
    text += parameter;
  }
  return text + ")";
}

std::optional<ir_signature> find_ir_definition(std::string_view text, std::string_view name)
{
  for (std::size_t start = 0; start < text.size();) {
    auto const end = std::min(text.find('\n', start), text.size());
    auto const line = text.substr(start, end - start);
    auto const first = std::min(line.find_first_not_of(k_spaces), line.size());
    if (line.substr(first).starts_with(k_define))
      if (auto type = read_definition(text.substr(start + first + k_define.size()), name))
        return type;
    start = end + 1;
  }
  return std::nullopt;
}

bool agrees(ir_signature const& signature, std::string_view mangled)
{
  if (!mangled.starts_with('F')) return true;
  mangled.remove_prefix(1);
  if (!agree(signature.result, take_type(mangled))) return false;
  for (auto const& parameter : signature.parameters)
    if (!agree(parameter, take_type(mangled))) return false;
  return true;
}

namespace {

/// The type that `mangled` states, as LLVM spells it: pointers as "ptr" where `is_opaque`, else as
/// "float*". Empty if a type is not a number of 32 or 64 bits or a pointer to one.
std::optional<ir_signature> ir_signature_of(std::string_view mangled, bool is_opaque)
{
  if (!mangled.starts_with('F') || !mangled.ends_with('E')) return std::nullopt;
  mangled = mangled.substr(1, mangled.size() - 2);
  std::vector<std::string> types;
  while (!mangled.empty()) {
    auto const start = mangled;
    auto type = take_type(mangled);
    auto const is_double_pointer = start.starts_with("PP") || start.starts_with("PKP");
    if (type == k_unknown || is_double_pointer || (mangled.empty() && start.size() > 4))
      return std::nullopt;
    if (type == "ptr" && !is_opaque) type = typed_pointer(start);
    types.push_back(std::move(type));
  }
  if (types.empty()) return std::nullopt;
  ir_signature signature{.result = types.front()};
  if (types.size() != 2 || types[1] != "void")
    signature.parameters.assign(types.begin() + 1, types.end());
  return signature;
}

/// Whether result and parameters of `mangled` are numbers of 32 or 64 bits, or void.
bool has_only_numbers(std::string_view mangled)
{
  return ir_signature_of(mangled, true) && mangled.find('P') == std::string_view::npos;
}

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

namespace {

/// The first target for which libNVVM reads current LLVM IR; for older ones it is LLVM 7.
constexpr unsigned k_first_modern = 100;

constexpr char const* k_version_hint =
    "state the version of NVVM IR that the code is written for: !nvvmir.version = !{!0} and !0 = "
    "!{i32 2, i32 0} (with another number if !0 is in use)";
constexpr char const* k_triple_hint = "state the target: target triple = \"nvptx64-nvidia-cuda\"";
constexpr char const* k_constant_hint =
    "write a value that float holds exactly, or the hexadecimal digits of the double of that "
    "value: "
    "0x3FB99999A0000000 is 0.1F";
constexpr std::string_view k_undefined = "use of undefined value '@";
constexpr std::string_view k_intrinsic = "Unsupported intrinsic: ";

/// An error of a log. Line and column count from 1; 0: it states none.
struct ir_error {
  std::size_t line = 0;
  std::size_t column = 0;
  std::string_view text = {};
  bool is_in_context = false;  ///< of a valid statement that libNVVM does not compile
};

/// The rest of `text` after `prefix`; empty if it does not begin with that.
std::optional<std::string_view> after(std::string_view text, std::string_view prefix)
{
  if (!text.starts_with(prefix)) return std::nullopt;
  return text.substr(prefix.size());
}

/// Reads "(4, 12): " at the start of `text`, and moves it past that. The column counts from 0.
void read_position(std::string_view& text, ir_error& error)
{
  auto rest = after(text, "(");
  if (!rest) return;
  std::size_t line = 0;
  std::size_t column = 0;
  auto const* const end = rest->data() + rest->size();
  auto const first = std::from_chars(rest->data(), end, line);
  if (first.ec != std::errc() || end - first.ptr < 2 || first.ptr[0] != ',' || first.ptr[1] != ' ')
    return;
  auto const second = std::from_chars(first.ptr + 2, end, column);
  if (second.ec != std::errc() || second.ptr == end || *second.ptr != ')') return;
  error.line = line;
  error.column = column + 1;
  text = std::string_view(second.ptr + 1, static_cast<std::size_t>(end - second.ptr - 1));
}

/// `text` without the words that libNVVM puts before a message.
std::string_view without_marks(std::string_view text)
{
  for (auto const* prefix : {": ", "error: ", "Error: ", "parse "})
    if (auto const shorter = after(text, prefix)) text = *shorter;
  return text;
}

/// "half.ll (4, 12): parse expected type", "half.ll: error: Module does not contain a triple".
std::optional<ir_error> read_error(std::string_view line, std::string const& program_name)
{
  auto rest = after(line, program_name);
  if (!rest) return std::nullopt;
  ir_error error;
  auto text = rest->substr(std::min(rest->find_first_not_of(' '), rest->size()));
  read_position(text, error);
  error.text = without_marks(text);
  return error;
}

/// The line after `  context: STATEMENT`, which follows a line without a message.
std::optional<ir_error> find_error_in_context(std::string_view log)
{
  auto const context = log.find("\n  context: ");
  if (context == std::string_view::npos) return std::nullopt;
  auto text = log.substr(std::min(log.find('\n', context + 1), log.size()));
  text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  return ir_error{.text = text.substr(0, text.find('\n')), .is_in_context = true};
}

ir_error find_error(std::string_view log, std::string const& program_name)
{
  if (auto const error = find_error_in_context(log)) return *error;
  ir_error const first{.text = without_marks(log.substr(0, log.find('\n')))};
  for (std::size_t start = 0; start < log.size();) {
    auto const end = std::min(log.find('\n', start), log.size());
    if (auto const error = read_error(log.substr(start, end - start), program_name)) return *error;
    start = end + 1;
  }
  return first;
}

/// "IR version 1.0 incompatible with current version 2.0", which 13.0 and 13.5 place differently.
std::string_view version_error_of(std::string_view log)
{
  auto const start = log.find("IR version ");
  if (start == std::string_view::npos) return "another version of NVVM IR";
  auto const text = log.substr(start);
  return text.substr(0, text.find('\n'));
}

/// Line `number` of a text, from 1.
std::string_view line_at(std::string_view text, std::size_t number)
{
  for (; number > 1; --number) {
    auto const end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

/// Whether the error is at an opaque pointer, which LLVM 7 does not have.
bool is_at_opaque_pointer(ir_error const& error, std::string_view source)
{
  constexpr std::string_view k_pointer = "ptr";
  if (error.line == 0 || error.column == 0) return false;
  auto const line = line_at(source, error.line);
  if (error.column > line.size()) return false;
  auto const word = line.substr(error.column - 1);
  return word.starts_with(k_pointer) &&
         (word.size() == k_pointer.size() ||
          std::isalnum(static_cast<unsigned char>(word[k_pointer.size()])) == 0);
}

std::string dialect_hint(ir_error const& error, ir_compile const& compile)
{
  auto const name = compile.target.name();
  if (compile.target.number() >= k_first_modern)
    return detail::format(
        "correct it; for {} libNVVM reads current LLVM IR, for targets below sm_100 that of LLVM "
        "7, whose pointers have types",
        name);
  auto const rule = detail::format(
      "for {}, as for every target below sm_100, libNVVM reads the LLVM IR of LLVM 7", name);
  if (is_at_opaque_pointer(error, compile.source))
    return rule +
           ": give the pointer a type (float*, not ptr), or compile for sm_100 and newer "
           "only, for which it reads current LLVM IR";
  if (error.line == 0)
    return rule +
           ": make the bitcode with that version, pass text in its dialect, or compile for "
           "sm_100 and newer only, for which it reads current LLVM IR";
  return rule + ", for sm_100 and newer current LLVM IR; correct the line for this target";
}

/// The types are those of most functions: the log does not state them.
std::string undefined_hint(std::string_view text)
{
  auto const name = text.substr(text.find(k_undefined) + k_undefined.size());
  return detail::format(
      "declare it with its types, such as: declare float @{}(float); libNVVM adds functions of "
      "libdevice (__nv_...), others must be defined by another input",
      printable(name.substr(0, name.find('\''))));
}

/// "llvm.sin.f32" is "__nv_sinf" in libdevice, "llvm.sin.f64" "__nv_sin".
std::string intrinsic_hint(std::string_view text)
{
  constexpr std::array<std::string_view, 10> k_known{"sin", "cos", "tan",  "exp",   "exp2",
                                                     "pow", "log", "log2", "log10", "exp10"};
  constexpr std::string_view k_prefix = "llvm.";
  auto name = text.substr(k_intrinsic.size());
  auto const is_float = name.ends_with(".f32");
  if (name.starts_with(k_prefix)) name.remove_prefix(k_prefix.size());
  name = name.substr(0, name.find('.'));
  if (std::find(k_known.begin(), k_known.end(), name) == k_known.end())
    return "call functions of libdevice (__nv_...) instead; libNVVM adds them";
  return detail::format("call @__nv_{}{} of libdevice instead; libNVVM adds it", name,
                        is_float ? "f" : "");
}

std::string hint_for(ir_error const& error, compile_product const& product,
                     ir_compile const& compile)
{
  if (product.code == "NVVM_ERROR_IR_VERSION_MISMATCH") return k_version_hint;
  auto const has = [&](std::string_view part) {
    return error.text.find(part) != std::string_view::npos;
  };
  if (has("contain a triple") || has("Invalid target triple")) return k_triple_hint;
  if (has("floating point constant invalid for type")) return k_constant_hint;
  if (has(k_undefined)) return undefined_hint(error.text);
  if (error.text.starts_with(k_intrinsic)) return intrinsic_hint(error.text);
  if (error.is_in_context) return "correct the statement that libNVVM's log shows";
  return dialect_hint(error, compile);
}

std::string ir_error_text(ir_error const& error, compile_subject const& subject)
{
  constexpr std::string_view k_list = ", must be one of:";  // in lines that follow
  auto line = error.text;
  if (line.ends_with(k_list)) line.remove_suffix(k_list.size());
  auto const text = printable(line);
  if (error.line == 0) return detail::format("{}: error: {}", subject.name, text);
  return detail::format("{}:{}:{}: error: {}", subject.name, error.line, error.column, text);
}

}  // namespace

void refuse_ir_product(compile_product const& product, compile_subject const& subject,
                       ir_compile const& compile)
{
  auto error = find_error(product.log, subject.program_name);
  if (product.code == "NVVM_ERROR_IR_VERSION_MISMATCH")
    error = {.text = version_error_of(product.log)};
  if (product.code == "NVVM_ERROR_INVALID_OPTION" &&
      product.log.find("-arch=") != std::string::npos)
    throw unavailable_error(
        stage::compiler,
        {.message = detail::format("{}: {} does not know the architecture {}", subject.name,
                                   compile.producer, compile.target.name()),
         .input = subject.name,
         .code = vendor_code(product.code),
         .log = product.log,
         .hint = "install a newer libNVVM, or compile for an older architecture, whose code newer "
                 "GPUs also run"});
  if (error.text.empty()) error.text = product.code;
  throw compile_error(stage::compiler, {.message = ir_error_text(error, subject),
                                        .input = subject.name,
                                        .code = error_code::compile_failed,
                                        .log = product.log,
                                        .hint = hint_for(error, product, compile)});
}

}  // namespace fatlink::detail
