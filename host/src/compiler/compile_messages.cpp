// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile_messages.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "fatlink/error.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {
namespace {

constexpr char const* k_headers_remedy =
    "the headers of CUDA come with NVRTC 13.3 and newer, with a toolkit (CUDA_HOME), or with the "
    "wheels nvidia-cuda-runtime and nvidia-cuda-cccl";

constexpr std::size_t k_most_warnings = 100;  ///< of a compile
constexpr std::size_t k_longest_line = 500;   ///< of a log, in a message; the log has it in full

std::vector<std::string_view> lines_of(std::string_view text)
{
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    auto const end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

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

/// "src/half.cu:3: error: …" of "half.cu(3): error: …".
std::string with_user_name(std::string_view line, compile_subject const& subject)
{
  auto const& name = subject.program_name;
  if (line.starts_with("ptxas ")) return detail::format("{}: {}", subject.name, line);
  if (!line.starts_with(name) || line.size() == name.size()) return std::string(line);
  if (line[name.size()] != '(') return subject.name + std::string(line.substr(name.size()));
  auto const close = line.find(')', name.size());
  if (close == std::string_view::npos) return std::string(line);
  return detail::format("{}:{}{}", subject.name,
                        line.substr(name.size() + 1, close - name.size() - 1),
                        line.substr(close + 1));
}

/// Names of the C and C++ standard libraries, which NVRTC does not have: <vector>, not <lib/core>.
bool is_standard_header(std::string_view name)
{
  constexpr std::string_view k_c_headers[] = {"assert.h", "float.h",  "limits.h",
                                              "math.h",   "stddef.h", "stdint.h",
                                              "stdio.h",  "stdlib.h", "string.h"};
  constexpr std::string_view k_not_in_names = "./-+ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return name.find_first_of(k_not_in_names) == std::string_view::npos ||
         std::ranges::count(k_c_headers, name) > 0;
}

std::string folders_text(compile_subject const& subject)
{
  if (subject.folders.empty()) return "no folders were searched";
  std::string text;
  for (auto const& folder : subject.folders) text += (text.empty() ? "searched: " : ", ") + folder;
  return text;
}

std::string header_hint(std::string const& name, compile_subject const& subject)
{
  if (is_standard_header(name))
    return detail::format(
        "NVRTC has no C++ standard library, and CCCL in these folders has no <cuda/std/{}>: remove "
        "the line; CUDA's own functions (sqrtf, printf) need no header; {}",
        name.substr(0, name.find('.')), folders_text(subject));
  if (!subject.headers_problem.empty())
    return detail::format(
        "the headers of CUDA, which NVRTC brings, could not be unpacked ({}): correct this, use "
        "another folder (FATLINK_CACHE_DIR, cache_settings::folder), or add the header's folder "
        "with -I (compile_options::include_folders); {}",
        subject.headers_problem, folders_text(subject));
  return detail::format("add its folder with -I (compile_options::include_folders); {}; {}",
                        folders_text(subject), k_headers_remedy);
}

[[noreturn]] void refuse_header(std::string const& name, compile_product const& product,
                                compile_subject const& subject, std::string const& refusal)
{
  auto const cause = refusal.empty() ? std::string("is in none of the folders") : refusal;
  auto hint = refusal.empty() ? header_hint(name, subject)
                              : detail::format(
                                    "include a regular file in a folder of -I "
                                    "(compile_options::include_folders); {}",
                                    folders_text(subject));
  throw compile_error(stage::compiler,
                      {.message = detail::format("{}: the header {} {}", subject.name, name, cause),
                       .input = subject.name,
                       .code = error_code::header_not_found,
                       .log = refusal.empty() ? product.log : std::string(),
                       .hint = std::move(hint)});
}

/// Whether an error is about the type of a function, not about its body.
bool is_about_types(std::string_view line, std::string const& hook)
{
  if (line.find('"' + hook) != std::string_view::npos) return true;
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"overload", "linkage", "incompatible"},
      [&](std::string_view word) { return line.find(word) != std::string_view::npos; });
}

/// The contract's declaration of a hook, if the first error is about its type.
std::string contract_hint(std::string_view log, compile_subject const& subject)
{
  if (subject.contract == nullptr) return {};
  auto const line = first_compile_error(log);
  for (auto const& hook : subject.contract->hooks)
    if (log.find(hook) != std::string_view::npos && is_about_types(line, hook))
      return subject.contract->declaration_hint(hook);
  return {};
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

/// "half.cu: " before a message that does not name the file.
std::string with_file(std::string message, compile_subject const& subject)
{
  if (message.starts_with(subject.name)) return message;
  return detail::format("{}: {}", subject.name, message);
}

bool is_unknown_architecture(compile_product const& product)
{
  return product.log.find("--gpu-architecture") != std::string::npos ||
         product.log.find("-arch") != std::string::npos;
}

}  // namespace

/// The text of a catastrophic error; empty: the line states none. The name of the file before it
/// may be any text, by #line. Not a line of the source, which the log shows indented.
std::string_view catastrophe_of(std::string_view line)
{
  constexpr std::string_view k_mark = "): ";
  constexpr std::string_view k_kind = "catastrophic error: ";
  auto const start = line.rfind(k_mark);
  if (line.starts_with(' ') || start == std::string_view::npos) return {};
  line.remove_prefix(start + k_mark.size());
  return line.starts_with(k_kind) ? line.substr(k_kind.size()) : std::string_view();
}

std::string missing_header_of(std::string_view log)
{
  for (auto const line : lines_of(log))
    for (std::string_view const mark :
         {"could not open source file \"", "cannot open source file \""})
      if (auto const text = catastrophe_of(line); text.starts_with(mark)) {
        auto const name = text.substr(mark.size());
        auto const end = std::min(name.rfind('"'), name.size());
        if (auto const rest = name.substr(end);
            rest == "\"" || rest.starts_with("\" (") || rest.starts_with("\": "))
          return std::string(name.substr(0, end));
      }
  return {};
}

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
         .log = product.log,
         .hint = "install a newer NVRTC, or compile for an older architecture, which newer GPUs "
                 "run too"});
  auto const line = first_compile_error(product.log);
  auto hint = assembly_hint(product);
  if (hint.empty()) hint = contract_hint(product.log, subject);
  if (hint.empty()) hint = "correct the source; the log has all messages";
  throw compile_error(
      stage::compiler,
      {.message = line.empty()
                      ? detail::format("{}: {} fails: {}", subject.name, producer, product.code)
                      : shortened(with_file(with_user_name(line, subject), subject)),
       .input = subject.name,
       .code = error_code::compile_failed,
       .log = product.log,
       .hint = std::move(hint)});
}

}  // namespace fatlink::detail
