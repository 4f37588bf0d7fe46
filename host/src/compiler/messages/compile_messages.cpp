// SPDX-License-Identifier: Apache-2.0
#include "compiler/messages/compile_messages.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "compiler/contract/hook_macros.hpp"
#include "compiler/contract/installed_contract.hpp"
#include "compiler/messages/missing_header.hpp"
#include "fatlink/error.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {
namespace {

constexpr std::size_t k_most_warnings = 100;  ///< of a compile
constexpr std::size_t k_longest_line = 500;   ///< of a log, in a message; the log has it in full

bool is_error(std::string_view line)
{
  for (auto const* mark :
       {": error:", ": catastrophic error:", " error   :", "error:", "fatal   :"})
    if (line.find(mark) != std::string_view::npos) return true;
  return false;
}

/// Whether a line of a log states a warning: not a line of the source, which is indented, nor the
/// remark how NVRTC's options hide warnings.
bool is_warning(std::string_view line)
{
  if (line.starts_with(' ') || line.starts_with("Remark")) return false;
  return line.starts_with("warning") || line.find("): warning") != std::string_view::npos ||
         (line.starts_with("ptxas ") && line.find("warning") != std::string_view::npos) ||
         line.find(": warning:") != std::string_view::npos;
}

/// At most k_longest_line bytes of `line`, cut before a character.
std::string shortened(std::string line)
{
  if (line.size() <= k_longest_line) return line;
  auto end = k_longest_line;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) --end;
  line.resize(end);
  return line + "…";
}

/// Whether an error is about the type of a function, not about its body.
bool is_about_types(std::string_view line, std::string const& hook)
{
  if (line.find('"' + hook) != std::string_view::npos) return true;
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"overload", "linkage", "incompatible"},
      [&](std::string_view word) { return line.find(word) != std::string_view::npos; });
}

/// What "more than one instance of overloaded function "x" has "C" linkage" means.
std::string other_type(std::string_view line, std::string const& hook)
{
  if (line.find("overload") == std::string_view::npos) return {};
  return detail::format("{} has another type here than in the contract: ", hook);
}

/// That the hook has another type, and the contract's declaration, if the first error is about it.
std::string contract_hint(std::string_view log, compile_subject const& subject)
{
  if (subject.contract == nullptr) return {};
  auto const line = first_compile_error(log);
  for (auto const& hook : subject.contract->hooks)
    if (log.find(hook) != std::string_view::npos && is_about_types(line, hook))
      return other_type(line, hook) + subject.contract->declaration_hint(hook);
  return {};
}

/// The name between the last quotes of a line: "identifier "band" is undefined".
std::string_view quoted_name(std::string_view line)
{
  auto const end = line.rfind('"');
  auto const begin = end == std::string_view::npos || end == 0 ? end : line.rfind('"', end - 1);
  return begin == std::string_view::npos || begin == end ? std::string_view{}
                                                         : line.substr(begin + 1, end - begin - 1);
}

/// That a contract declares an undefined name; empty where none is installed that does.
std::string declaring_contract_hint(std::string_view line)
{
  auto const name = quoted_name(line);
  auto const contracts = name.empty() ? std::vector<std::string>{} : contracts_with(name);
  if (contracts.empty()) return {};
  return detail::format(
      "the header of the contract {} names {}: state the contract (<compile_options::contract>)",
      fmt::join(contracts, " and of "), name);
}

/// Of an undefined name: the contract of the compile, or that another one may declare it.
std::string correction_hint(std::string_view line, compile_subject const& subject)
{
  auto const is_undefined = line.ends_with(" is undefined");
  if (is_undefined && subject.contract != nullptr)
    return detail::format(
        "correct the source, which is compiled for the contract {}; the log has all messages",
        subject.contract->title());
  if (is_undefined && !subject.has_header) {
    auto hint = declaring_contract_hint(line);
    if (!hint.empty()) return hint;
    return "correct the source; or, if a contract declares it, state the contract "
           "(<compile_options::contract>)";
  }
  return "correct the source; the log has all messages";
}

/// The line of the PTX that the assembler refuses: "ptxas application ptx input, line 24; error".
std::string assembly_hint(compile_product const& product)
{
  constexpr std::string_view k_mark = "ptx input, line ";
  auto const start = product.log.find(k_mark);
  if (start == std::string::npos) return {};
  std::size_t number = 0;
  auto const* const digits = product.log.data() + start + k_mark.size();
  (void)std::from_chars(digits, product.log.data() + product.log.size(), number);
  auto const lines =
      lines_of({reinterpret_cast<char const*>(product.ptx.data()), product.ptx.size()});
  if (number == 0 || number > lines.size()) return {};
  return detail::format("correct the asm statement; line {} of the PTX is: {}", number,
                        printable(lines[number - 1]));
}

/// Names the source in a message that does not: before it, or after it where a header comes first.
std::string with_file(std::string message, compile_subject const& subject)
{
  if (message.starts_with(subject.name)) return message;
  for (auto const& [name, file] : subject.header_files)
    if (message.starts_with(file + ':'))
      return detail::format("{} (compiling {})", message, subject.name);
  return detail::format("{}: {}", subject.name, message);
}

bool is_unknown_architecture(compile_product const& product)
{
  return product.log.find("--gpu-architecture") != std::string::npos ||
         product.log.find("-arch") != std::string::npos;
}

}  // namespace

bool is_out_of_memory(compile_product const& product)
{
  if (product.code.ends_with("_ERROR_OUT_OF_MEMORY")) return true;
  return std::ranges::any_of(lines_of(product.log), [](std::string_view line) {
    return catastrophe_of(line) == "out of memory" ||
           line.starts_with("LLVM ERROR: out of memory") ||
           (line.starts_with("ptxas ") && line.ends_with("Memory allocation failure"));
  });
}

std::string first_compile_error(std::string_view log)
{
  for (auto const line : lines_of(log))
    if (is_error(line)) return std::string(line);
  return std::string(log.substr(0, log.find('\n')));
}

std::vector<std::string> compile_warnings(std::vector<compile_product> const& products)
{
  std::vector<std::string> warnings;
  std::set<std::string, std::less<>> known;
  std::size_t left_out = 0;
  for (auto const& product : products)
    for (auto const line : lines_of(product.log)) {
      if (!is_warning(line) || !known.emplace(line).second) continue;
      if (warnings.size() < k_most_warnings)
        warnings.push_back(shortened(std::string(line)));
      else
        ++left_out;
    }
  if (left_out > 0) warnings.push_back(detail::format("… and {} more warnings", left_out));
  return warnings;
}

std::string named_warning(std::string const& warning, compile_subject const& subject)
{
  return with_user_name(warning, subject);
}

void refuse_product(compile_product const& product, compile_subject const& subject,
                    std::string const& refusal, std::string const& producer)
{
  if (auto const header = missing_header_of(product.log); !header.empty())
    refuse_header(header, product, subject, refusal);
  if (product.code == "NVRTC_ERROR_INVALID_OPTION" && is_unknown_architecture(product))
    throw unavailable_error(
        stage::compiler,
        {.message = detail::format("{}: {} does not know an architecture: {}", subject.name,
                                   producer, first_compile_error(product.log)),
         .input = subject.name,
         .code = vendor_code(product.code),
         .log = with_header_files(product.log, subject),
         .hint = "install a newer NVRTC, or compile for an older architecture, which newer GPUs "
                 "run too"});
  auto const line = first_compile_error(product.log);
  auto hint = assembly_hint(product);
  if (hint.empty()) hint = macro_hint(product.log, subject.contract);
  if (hint.empty()) hint = contract_hint(product.log, subject);
  if (hint.empty()) hint = correction_hint(line, subject);
  throw compile_error(
      stage::compiler,
      {.message = line.empty()
                      ? detail::format("{}: {} fails: {}", subject.name, producer, product.code)
                      : shortened(with_file(with_user_name(line, subject), subject)),
       .input = subject.name,
       .code = error_code::compile_failed,
       .log = with_header_files(product.log, subject),
       .hint = std::move(hint)});
}

}  // namespace fatlink::detail
