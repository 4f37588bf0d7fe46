// SPDX-License-Identifier: Apache-2.0
#include "compiler/session/compile_inputs.hpp"

#include <cctype>
#include <utility>

#include "compiler/compiler_options.hpp"
#include "compiler/compiler_version.hpp"
#include "compiler/contract/check_hooks.hpp"
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

void compile_inputs::read_contract(compiler_helpers& helpers)
{
  if (!options.contract.empty()) {
    contract = find_contract(options.contract);
    subject.contract = &*contract;
  }
  subject.has_header = !contract && !options.header.empty();
  headers.emplace(is_cuda() ? options : compile_options(), subject.contract,
                  [&helpers] { helpers.check_time(); });
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
          .source = std::string(without_mark(code.text())),
          .headers = libraries_,
          .compiles = is_cuda() ? nvrtc_compiles(options, headers->options(), is_minimal)
                                : nvvm_compiles(options)};
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

}  // namespace fatlink::detail
