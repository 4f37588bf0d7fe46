// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/ir_messages.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "fatlink/error.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {
namespace {

/// The first target for which libNVVM reads current LLVM IR; for older ones it is LLVM 7.
constexpr unsigned k_first_modern = 100;

constexpr char const* k_version_hint =
    "state the version of NVVM IR that the code is written for: !nvvmir.version = !{!0} and "
    "!0 = !{i32 2, i32 0} (another number where !0 is taken)";
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
    return "call functions of libdevice (__nv_...) in its place, which libNVVM adds";
  return detail::format("call @__nv_{}{} of libdevice in its place, which libNVVM adds", name,
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

std::string describe(ir_error const& error, compile_subject const& subject)
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
         .hint = "install a newer libNVVM, or compile for an older architecture, which newer GPUs "
                 "run too"});
  if (error.text.empty()) error.text = product.code;
  throw compile_error(stage::compiler, {.message = describe(error, subject),
                                        .input = subject.name,
                                        .code = error_code::compile_failed,
                                        .log = product.log,
                                        .hint = hint_for(error, product, compile)});
}

}  // namespace fatlink::detail
