// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile_messages.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "compiler/installed_contract.hpp"
#include "fatlink/error.hpp"
#include "toolkit/program.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// "NAME(LINE): …" of a log.
struct log_line {
  std::string_view name = {};
  std::string_view number = {};
  std::string_view rest = {};  ///< ": …"
};

std::optional<log_line> split(std::string_view line)
{
  auto const close = line.find("): ");
  if (close == std::string_view::npos) return std::nullopt;
  auto const open = line.rfind('(', close);
  if (open == std::string_view::npos) return std::nullopt;
  return log_line{line.substr(0, open), line.substr(open + 1, close - open - 1),
                  line.substr(close + 1)};
}

/// The file that the compiler knows as `name`; empty if it is none that was passed.
std::string file_of(std::string_view name, compile_subject const& subject)
{
  if (name == subject.program_name) return subject.name;
  auto const header = subject.header_files.find(std::string(name));
  return header == subject.header_files.end() ? std::string() : header->second;
}

/// The lines of `text`, without their ends; they point into it.
std::vector<std::string_view> split_lines(std::string_view text)
{
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    auto const end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// The message of a line that states a catastrophic error, which ends a compile; empty if it does
/// not. The name of the file before it may be any text, by #line. Lines of the source, which the
/// log shows indented, do not.
std::string_view catastrophe_of(std::string_view line)
{
  constexpr std::string_view k_mark = "): ";
  constexpr std::string_view k_kind = "catastrophic error: ";
  auto const start = line.rfind(k_mark);
  if (line.starts_with(' ') || start == std::string_view::npos) return {};
  line.remove_prefix(start + k_mark.size());
  return line.starts_with(k_kind) ? line.substr(k_kind.size()) : std::string_view();
}

}  // namespace

std::string with_user_name(std::string_view line, compile_subject const& subject)
{
  auto const& name = subject.program_name;
  if (line.starts_with("ptxas ")) return detail::format("{}: {}", subject.name, line);
  if (auto const parts = split(line))
    if (auto const file = file_of(parts->name, subject); !file.empty())
      return detail::format("{}:{}{}", file, parts->number, parts->rest);
  if (line.starts_with(name) && line.size() > name.size() && line[name.size()] != '(')
    return subject.name + std::string(line.substr(name.size()));
  return std::string(line);
}

namespace {

/// "src/half.cu:3" of the catastrophic error of a log; of line 0, which the host states, the file.
std::string place_of_catastrophe(std::string_view log, compile_subject const& subject)
{
  for (auto const line : split_lines(log)) {
    auto const parts = split(line);
    if (!parts || catastrophe_of(line).empty()) continue;
    auto const file = file_of(parts->name, subject);
    if (!file.empty() && parts->number != "0") return detail::format("{}:{}", file, parts->number);
  }
  return subject.name;
}

/// `log` with the files of headers instead of the names by which the compiler knows them.
std::string with_header_files(std::string_view log, compile_subject const& subject)
{
  std::string text;
  for (auto line : split_lines(log)) {
    if (auto const parts = split(line))
      if (auto const header = subject.header_files.find(std::string(parts->name));
          header != subject.header_files.end()) {
        text += header->second;
        line.remove_prefix(parts->name.size());
      }
    text.append(line) += '\n';
  }
  if (!log.ends_with('\n') && !text.empty()) text.pop_back();
  return text;
}

}  // namespace

std::string missing_header_of(std::string_view log)
{
  for (auto const line : split_lines(log))
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

namespace {

// The error of a header that the compiler did not find. Threads: no shared state.

constexpr char const* k_headers_remedy =
    "the headers of CUDA come with NVRTC 13.3 and newer, with a toolkit (CUDA_HOME), or with the "
    "wheels nvidia-cuda-runtime and nvidia-cuda-cccl";

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

/// Whether `place`, as place_of_catastrophe returns it, is in the source, not in a header.
bool is_in_source(std::string const& place, compile_subject const& subject)
{
  return place.starts_with(subject.name + ':');
}

/// The folder of the source, if it has the header `name`, which is searched there only for quotes
/// and is included by the source itself; else empty.
std::string own_folder_with(std::string const& name, compile_subject const& subject,
                            std::string const& place)
{
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path const header(name);
  auto const is_below = header.is_relative() && std::ranges::count(header, fs::path("..")) == 0;
  if (!is_below || !is_in_source(place, subject)) return {};
  if (!fs::is_regular_file(subject.name, ignored)) return {};
  auto const folder = fs::path(subject.name).parent_path();
  if (!fs::is_regular_file(folder / header, ignored)) return {};
  // Quotes do not reach a file that is a link out of the folder.
  auto const real = fs::relative(folder / header, folder.empty() ? "." : folder, ignored);
  if (real.empty() || *real.begin() == "..") return {};
  return folder.empty() ? "." : folder.string();
}

bool has_headers_of_cuda(compile_subject const& subject)
{
  return std::ranges::any_of(subject.folders, [](std::string const& folder) {
    std::error_code ignored;
    return std::filesystem::exists(std::filesystem::path(folder) / "cuda_fp16.h", ignored);
  });
}

/// `place`: of the line that includes the header, "half.cu:1", which may be in another header.
std::string standard_header_hint(std::string const& name, compile_subject const& subject,
                                 std::string const& place)
{
  auto const remedy =
      is_in_source(place, subject)
          ? std::string("remove the line; CUDA's own functions (sqrtf, printf) need no header")
          : std::string(
                "leave out the header that includes it, or this line if the header is yours");
  return detail::format(
      "NVRTC has no C++ standard library, and CCCL in these folders has no <cuda/std/{}>: {}; {}",
      name.substr(0, name.find('.')), remedy, folders_text(subject));
}

std::string header_hint(std::string const& name, compile_subject const& subject,
                        std::string const& place)
{
  if (auto const folder = own_folder_with(name, subject, place); !folder.empty())
    return detail::format(
        "it is beside the source, but that folder is searched only for #include \"{}\": use "
        "quotes, or add the folder with <compile_options::include_folders> {}",
        name, folder);
  if (is_standard_header(name)) return standard_header_hint(name, subject, place);
  if (!subject.headers_error.empty())
    return detail::format(
        "the CUDA headers that come with NVRTC could not be unpacked ({}): correct this, use "
        "another folder (FATLINK_CACHE_DIR<, cache_settings::folder>), or add the header's folder "
        "with <compile_options::include_folders>; {}",
        subject.headers_error, folders_text(subject));
  auto hint = detail::format("add its folder with <compile_options::include_folders>; {}",
                             folders_text(subject));
  return has_headers_of_cuda(subject) ? hint : detail::format("{}; {}", hint, k_headers_remedy);
}

/// @throws compile_error (header_not_found) always: for the header `name`, which the log of
///   `product` states. `refusal`: why a file that is there was not read (header_files::refusal_of);
///   the error shows nothing of the log then.
[[noreturn]] void refuse_header(std::string const& name, compile_product const& product,
                                compile_subject const& subject, std::string const& refusal)
{
  auto const cause = refusal.empty() ? std::string("is in none of the folders") : refusal;
  auto const place = place_of_catastrophe(product.log, subject);
  auto hint = refusal.empty() ? header_hint(name, subject, place)
                              : detail::format(
                                    "include a regular file in a folder of "
                                    "<compile_options::include_folders>; {}",
                                    folders_text(subject));
  throw compile_error(
      stage::compiler,
      {.message = detail::format("{}: the header {} {}", place, name, cause),
       .input = subject.name,
       .code = error_code::header_not_found,
       .log = refusal.empty() ? with_header_files(product.log, subject) : std::string(),
       .hint = std::move(hint)});
}

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

/// The first line of `log` that states an error: "half.cu(3): error: …"; empty if there is none.
std::string first_compile_error(std::string_view log)
{
  for (auto const line : split_lines(log))
    if (is_error(line)) return std::string(line);
  return std::string(log.substr(0, log.find('\n')));
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
  return detail::format("{} has a different type than in the contract: ", hook);
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
      split_lines({reinterpret_cast<char const*>(product.ptx.data()), product.ptx.size()});
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
  return std::ranges::any_of(split_lines(product.log), [](std::string_view line) {
    return catastrophe_of(line) == "out of memory" ||
           line.starts_with("LLVM ERROR: out of memory") ||
           (line.starts_with("ptxas ") && line.ends_with("Memory allocation failure"));
  });
}

std::vector<std::string> compile_warnings(std::vector<compile_product> const& products)
{
  std::vector<std::string> warnings;
  std::set<std::string, std::less<>> known;
  std::size_t left_out = 0;
  for (auto const& product : products)
    for (auto const line : split_lines(product.log)) {
      if (!is_warning(line) || !known.emplace(line).second) continue;
      if (warnings.size() < k_most_warnings)
        warnings.push_back(shortened(std::string(line)));
      else
        ++left_out;
    }
  if (left_out > 0) warnings.push_back(detail::format("… and {} more warnings", left_out));
  return warnings;
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
         .hint = "install a newer NVRTC, or compile for an older architecture, whose code newer "
                 "GPUs also run"});
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

namespace {

[[noreturn]] void fail_compile(std::string const& name, std::string const& cause, code_text code,
                               char const* hint)
{
  throw compile_error(stage::compiler, {.message = detail::format("{}: {}", name, cause),
                                        .input = name,
                                        .code = std::move(code),
                                        .hint = hint});
}

/// Memory of a compiler that has not seen a source, which the limit does not count: 66 MiB with
/// NVRTC 13.0, of which 52 MiB are pages of its file.
constexpr std::uint64_t k_idle_kib = std::uint64_t{64} << 10;

bool is_near_limit(std::uint64_t peak_kib, unsigned limit_mib)
{
  return peak_kib > k_idle_kib + (std::uint64_t{limit_mib} << 10) / 4 * 3;
}

double seconds_of(std::chrono::milliseconds time)
{
  return static_cast<double>(time.count()) / 1000;
}

bool is_crash(std::string const& reason)
{
  return reason.starts_with("SIG") && reason != "SIGKILL";
}

char const* hint_of(std::string const& reason)
{
  if (reason == "SIGSEGV")
    return "deeply nested parentheses, braces or templates overflow the compiler's stack: nest "
           "them less, or simplify the source; the next compile is not affected";
  if (reason == "SIGABRT")
    return "compilers abort when they run out of memory: raise "
           "<compiler_settings::memory_limit_mib>, or use smaller arrays; the next compile is not "
           "affected";
  return "simplify the source; the next compile is not affected";
}

}  // namespace

void refuse_memory(std::string const& name, compiler_settings const& settings)
{
  fail_compile(name,
               detail::format("the compile needed more than its memory limit of {} MiB",
                              settings.memory_limit_mib),
               error_code::compile_memory,
               "look for infinite recursion in templates or macros, or raise "
               "<compiler_settings::memory_limit_mib>");
}

void refuse_slow_headers(std::string const& name, compiler_settings const& settings)
{
  fail_compile(
      name,
      detail::format("finding and reading its headers took longer than the time limit of {} s",
                     seconds_of(settings.time_limit)),
      error_code::compile_timeout,
      "include fewer headers, name fewer folders, or raise <compiler_settings::time_limit>");
}

void refuse_death(helper_death const& death, std::string const& name,
                  compiler_settings const& settings)
{
  if (death.reason == "ETIMEDOUT")
    fail_compile(
        name,
        detail::format(
            "the compile took longer than its time limit of {} s; the compiler's process was "
            "stopped",
            seconds_of(settings.time_limit)),
        error_code::compile_timeout,
        "look for infinite recursion in templates or macros, or raise "
        "<compiler_settings::time_limit>");
  if (is_near_limit(death.peak_kib, settings.memory_limit_mib)) refuse_memory(name, settings);
  fail_compile(name,
               detail::format("{} ({})",
                              is_crash(death.reason) ? "the compiler crashed compiling it"
                                                     : "the compiler's process died compiling it",
                              death.cause.empty() ? death.reason : death.cause),
               vendor_code(death.reason), hint_of(death.reason));
}

}  // namespace fatlink::detail
