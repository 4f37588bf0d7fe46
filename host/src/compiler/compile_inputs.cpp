// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile_inputs.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "compiler/check_hooks.hpp"
#include "compiler/compiler_state.hpp"
#include "fatlink/error.hpp"
#include "toolkit/nvvm.hpp"
#include "util/files/read_file.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t k_most_library = std::uint64_t{16} << 20;

std::string read_text(fs::path const& file, char const* hint)
{
  auto const bytes = read_file(file, k_most_library, hint);
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

/// The name of the program: that of the file, without its folder, which LTO-IR would have, and
/// without letters that options and PTX read otherwise.
std::string program_name_of(std::string const& name)
{
  auto file = fs::path(name).filename().string();
  for (auto& letter : file) {
    auto const value = static_cast<unsigned char>(letter);
    if (value < 0x80 && std::isalnum(value) == 0 && letter != '.' && letter != '-') letter = '_';
  }
  if (file.starts_with('-')) file.front() = '_';
  return file.empty() ? "source.cu" : file;
}

}  // namespace

compile_inputs::compile_inputs(source const& source_code, compile_options const& compile_options)
    : code(source_code),
      options(compile_options),
      subject{.name = printable(code.name()), .program_name = program_name_of(code.name())}
{
}

void compile_inputs::read_contract(compiler_helpers& helpers)
{
  if (!options.contract.empty()) {
    contract = find_contract(options.contract);
    subject.contract = &*contract;
  }
  subject.has_header = !contract && !options.header.empty();
  headers.emplace(
      is_cuda() ? options : compile_options(), subject.contract,
      [&helpers] { helpers.check_time(); },
      source_place{.folder = code.folder(), .name = subject.program_name});
}

void compile_inputs::read(library_file compiler_file, link_cache const* cache)
{
  library = std::move(compiler_file);
  producer = title_of(is_cuda() ? "NVRTC" : "libNVVM", version_of(library.identity));
  if (!is_cuda()) return read_ir();
  places.emplace(library, cache);
  headers->set_cuda_folders(places->folders());
  for (auto const& folder : headers->folders()) subject.folders.push_back(folder.string());
}

/// Adds libdevice, if the IR may call a function of it; check_libdevice tells if it lacks one.
void compile_inputs::read_ir()
{
  if (!code.is_bitcode()) check_ir_text(code.text(), subject);
  if (!options.header.empty() || !options.definitions.empty() || !options.include_folders.empty() ||
      options.standard != compile_options().standard)
    warnings.push_back(detail::format(
        "{}: headers, their folders, macros and the C++ standard have no effect on LLVM IR",
        subject.name));
  if (code.text().find("__nv_") == std::string::npos && !code.is_bitcode()) return;
  auto const file = libdevice_of(library.path);
  if (!file.empty()) libraries_ = {{"libdevice", read_text(file, "install libNVVM again")}};
}

program compile_inputs::make_program(bool is_minimal) const
{
  return {.name = subject.program_name,
          .source = line_directive_ + std::string(without_mark(code.text())),
          .headers = libraries_,
          .compiles = is_cuda() ? nvrtc_compiles(options, headers->options(), is_minimal)
                                : nvvm_compiles(options)};
}

void compile_inputs::name_lines(fs::path const& file)
{
  line_directive_ = detail::format("#line 1 \"{}\"\n", file.string());
  subject.header_files[file.string()] = subject.name;  // in messages
}

std::vector<fs::path> compile_inputs::read_headers() const
{
  auto files = headers->files();
  if (!options.header.empty()) files.push_back(options.header);
  return files;
}

void compile_inputs::name_header_files()
{
  std::error_code failure;
  auto const here = fs::current_path(failure);
  for (auto const& [name, file] : headers->files_by_name()) {
    auto const relative = failure ? fs::path() : file.lexically_relative(here);
    auto const is_below = !relative.empty() && *relative.begin() != "..";
    subject.header_files[name] = printable((is_below ? relative : file).string());
  }
}

namespace {

constexpr std::array k_standards{"c++03", "c++11", "c++14", "c++17", "c++20"};
constexpr unsigned k_least_mib = 64;
constexpr long k_longest_ms = 600'000;  ///< after which the helper ends itself
constexpr unsigned k_most_mib = 65536;

[[noreturn]] void fail_option(std::string const& message, std::string const& input,
                              char const* hint)
{
  throw usage_error(
      {.message = message, .input = input, .code = error_code::invalid_argument, .hint = hint});
}

/// "NAME", "NAME=VALUE" or "NAME(PARAMETERS)=VALUE", one line.
bool is_definition(std::string const& text)
{
  auto const macro = text.substr(0, text.find('='));
  auto const name = macro.substr(0, macro.find('('));
  auto const is_letter = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::all_of(name.begin(), name.end(), is_letter) &&
         (name == macro || (macro.ends_with(')') && macro.size() < text.size())) &&
         text.find('\n') == std::string::npos;
}

void check_targets(std::vector<target> const& targets)
{
  for (auto const architecture : targets) {
    check_target(architecture);
    if (std::count(targets.begin(), targets.end(), architecture) > 1)
      fail_option(detail::format("the architecture {} is given twice", architecture.name()),
                  architecture.name(), "give each architecture once");
  }
}

char const* text_of(bool value)
{
  return value ? "true" : "false";
}

std::vector<std::string> common_options(compile_options const& options,
                                        std::vector<std::string> const& headers, bool is_minimal)
{
  auto const& flags = options.float_flags;
  std::vector<std::string> list{
      "--relocatable-device-code=true",
      "--std=" + options.standard,
      "--modify-stack-limit=false",
      detail::format("--ftz={}", text_of(flags.ftz)),
      detail::format("--prec-div={}", text_of(flags.prec_div)),
      detail::format("--prec-sqrt={}", text_of(flags.prec_sqrt)),
      detail::format("--fmad={}", text_of(flags.fmad)),
  };
  if (is_minimal) list.emplace_back("--minimal");
  if (options.line_info) list.emplace_back("--generate-line-info");
  list.insert(list.end(), headers.begin(), headers.end());
  for (auto const& definition : options.definitions) list.push_back("--define-macro=" + definition);
  return list;
}

}  // namespace

void check_compile_options(compile_options const& options)
{
  if (options.architectures.empty() && options.sass.empty())
    fail_option("no architecture to compile for", "architectures", "give at least one: sm_75");
  check_targets(options.architectures);
  check_targets(options.sass);
  if (std::find(k_standards.begin(), k_standards.end(), options.standard) == k_standards.end())
    fail_option(detail::format("unknown C++ standard '{}'", options.standard), options.standard,
                "use c++03, c++11, c++14, c++17 or c++20");
  for (auto const& definition : options.definitions)
    if (!is_definition(definition))
      fail_option(detail::format("'{}' does not define a macro", definition), definition,
                  "write NAME, NAME=VALUE or 'NAME(PARAMETERS)=VALUE'");
  for (auto const& [name, text] : options.headers)
    if (name.empty())
      fail_option(detail::format("'{}' does not name a header in memory", name), name,
                  "name it as the #include does");
  if (!options.contract.empty() && !options.header.empty())
    fail_option("both a contract and a header", options.header.string(),
                "give the contract, whose header is included, or the header");
}

void check_compiler_settings(compiler_settings const& settings)
{
  auto const limit_ms = settings.time_limit.count();
  if (limit_ms <= 0 || limit_ms > k_longest_ms)
    throw usage_error(
        {.message = detail::format("a time limit of {} ms", limit_ms),
         .input = std::to_string(limit_ms),
         .code = error_code::invalid_time_limit,
         .hint = "set <compiler_settings::time_limit> to more than 0 and at most 600 s"});
  if (settings.memory_limit_mib < k_least_mib || settings.memory_limit_mib > k_most_mib)
    fail_option(detail::format("a memory limit of {} MiB", settings.memory_limit_mib),
                std::to_string(settings.memory_limit_mib),
                "set <compiler_settings::memory_limit_mib> to a number from 64 to 65536");
}

std::vector<compile_call> nvrtc_compiles(compile_options const& options,
                                         std::vector<std::string> const& headers, bool is_minimal)
{
  auto const common = common_options(options, headers, is_minimal);
  std::vector<compile_call> compiles;
  auto const add = [&](target architecture, bool is_lto) {
    auto list = common;
    list.push_back("--gpu-architecture=" + architecture.name());
    if (is_lto) list.emplace_back("--dlink-time-opt");
    auto const is_sass = std::ranges::count(options.sass, architecture) != 0;
    compiles.push_back({.options = std::move(list), .wants_cubin = is_sass && !is_lto});
  };
  for (auto const architecture : options.architectures) {
    add(architecture, false);
    add(architecture, true);
  }
  auto const& compiled = options.architectures;
  for (auto const architecture : options.sass)
    if (std::ranges::count(compiled, architecture) == 0) add(architecture, false);
  return compiles;
}

std::vector<compile_call> nvvm_compiles(compile_options const& options)
{
  if (!options.sass.empty())
    fail_option("libNVVM cannot generate cubins", "sass",
                "compile LLVM IR without cubins (--sass)");
  auto const& flags = options.float_flags;
  std::vector<compile_call> compiles;
  for (auto const architecture : options.architectures) {
    std::vector<std::string> list{"-arch=compute_" + architecture.name().substr(3),
                                  detail::format("-ftz={:d}", flags.ftz),
                                  detail::format("-prec-div={:d}", flags.prec_div),
                                  detail::format("-prec-sqrt={:d}", flags.prec_sqrt),
                                  detail::format("-fma={:d}", flags.fmad)};
    if (options.line_info) list.emplace_back("-generate-line-info");
    compiles.push_back({.options = list});
    list.emplace_back("-gen-lto");
    compiles.push_back({.options = std::move(list)});
  }
  return compiles;
}

}  // namespace fatlink::detail
