// SPDX-License-Identifier: Apache-2.0
#include "compiler/session/compile_inputs.hpp"

#include <cctype>
#include <utility>

#include "compiler/compiler_options.hpp"
#include "compiler/compiler_version.hpp"
#include "compiler/contract/check_hooks.hpp"
#include "compiler/contract/find_hook_types.hpp"
#include "compiler/directives/directive_text.hpp"
#include "util/files/read_file.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"
#include "vendor_compiler/nvvm.hpp"

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

void compile_inputs::read(library_file compiler_file, compiler_helpers& helpers,
                          link_cache const* cache)
{
  library = std::move(compiler_file);
  producer = title_of(is_cuda() ? "NVRTC" : "libNVVM", version_of(library.identity));
  if (is_cuda())
    read_headers(helpers, cache);
  else
    read_ir();
  for (auto const& folder : headers->folders()) subject.folders.push_back(folder.string());
}

void compile_inputs::read_contract()
{
  if (!options.contract.empty()) {
    contract = find_contract(options.contract);
    subject.contract = &*contract;
    forced_header_ = forced_header_of(*contract);
  } else if (!options.header.empty()) {
    subject.has_header = true;
    forced_header_ = {.file_name = options.header.filename().string(),
                      .text = read_text(options.header, "pass the header that declares the hooks")};
  }
}

header_request compile_inputs::make_header_request() const
{
  return {.code = code.text(),
          .options = options,
          .forced = forced_header_ ? &*forced_header_ : nullptr};
}

void compile_inputs::read_headers(compiler_helpers& helpers, link_cache const* cache)
{
  auto collected = collect_headers(make_header_request(), cuda_headers(library, cache), helpers);
  if (!collected.problem.empty())
    warnings.push_back(detail::format("{} cannot unpack the headers that it brings: {}", producer,
                                      collected.problem));
  subject.headers_problem = std::move(collected.problem);
  use(std::move(collected));
}

void compile_inputs::use(collected_headers collected)
{
  if (!collected.forced_name.empty()) forced_names_ = {std::move(collected.forced_name)};
  headers.emplace(std::move(collected.headers));
}

/// Adds libdevice, if the IR may call a function of it; check_libdevice tells if it lacks one.
void compile_inputs::read_ir()
{
  headers.emplace(header_sources());
  if (!code.is_bitcode()) check_ir_text(code.text(), subject);
  if (!options.header.empty() || !options.definitions.empty() || !options.include_folders.empty() ||
      options.standard != compile_options().standard)
    warnings.push_back(detail::format(
        "{}: headers, their folders, macros and the C++ standard have no effect on LLVM IR",
        subject.name));
  if (code.text().find("__nv_") == std::string::npos && !code.is_bitcode()) return;
  auto const file = libdevice_of(library.path);
  if (!file.empty()) headers->add_text("libdevice", read_text(file, "install libNVVM again"));
}

program compile_inputs::make_program(bool is_minimal) const
{
  return {.name = subject.program_name,
          .source = std::string(without_mark(code.text())),
          .headers = headers->headers(),
          .compiles = is_cuda() ? nvrtc_compiles(options, forced_names_, is_minimal)
                                : nvvm_compiles(options)};
}

program compile_inputs::make_shipped_program(compiler_helpers& helpers)
{
  use(collect_own_headers(make_header_request(), helpers));
  return make_program(false);
}

program compile_inputs::make_program() const
{
  return make_program(is_minimal());
}

program compile_inputs::make_full_program() const
{
  return make_program(false);
}

std::vector<fs::path> compile_inputs::header_files() const
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

}  // namespace fatlink::detail
