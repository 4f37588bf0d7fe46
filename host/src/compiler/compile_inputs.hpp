// SPDX-License-Identifier: Apache-2.0
// What one compile compiles: the source, its contract or header, the headers that it may include;
// and its options, checked and turned into those of NVRTC and libNVVM. Sources: NVRTC 13.0,
// "Supported Compile Options"; libNVVM's nvvm.h. Threads: one at a time.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compile_messages.hpp"
#include "compiler/compiler_helpers.hpp"
#include "compiler/header_files.hpp"
#include "fatlink/compiler.hpp"
#include "toolkit/program.hpp"

namespace fatlink::detail {

class compile_inputs {
 public:
  /// The arguments must outlive it.
  compile_inputs(source const& code, compile_options const& options);

  /// Reads the contract, and opens the folders of the headers. `helpers` must outlive this object.
  /// @throws as compiler::compile.
  void read_contract(compiler_helpers& helpers);
  /// Adds what belongs to the compiler, after read_contract(): CUDA's headers, or libdevice.
  /// `compiler_file`: of the compiler; empty fields: there is none. @throws as compiler::compile.
  void read(library_file compiler_file, link_cache const* cache);

  [[nodiscard]] bool is_cuda() const { return code.language() == source_language::cuda; }
  /// Whether headers beside the source are searched for.
  [[nodiscard]] bool has_folder() const { return is_cuda() && !code.folder().empty(); }
  /// `is_minimal`: see compile_with_headers.hpp.
  [[nodiscard]] program make_program(bool is_minimal = false) const;
  /// The headers that were read, and compile_options::header.
  [[nodiscard]] std::vector<std::filesystem::path> read_headers() const;
  /// Lets line tables name `file`, which has the text of the source.
  void name_lines(std::filesystem::path const& file);
  /// Fills subject.header_files. Relative to the working folder, if they are below it.
  void name_header_files();

  source const& code;
  compile_options const& options;
  library_file library = {};  ///< of the compiler; set by read()
  std::string producer = {};  ///< "NVRTC 13.0"; set by read()
  std::optional<installed_contract> contract = {};
  std::optional<header_files> headers = {};  ///< set by read_contract()
  std::optional<cuda_headers> places = {};   ///< of CUDA's headers; set by read()
  compile_subject subject;
  std::vector<std::string> warnings = {};  ///< about options and headers

 private:
  void read_ir();

  std::vector<memory_header> libraries_;  ///< of LLVM IR: libdevice, if it is needed
  std::string line_directive_;            ///< before the source; empty: none
};

/// @throws usage_error no architecture, one that is older than CUDA 13 knows or given twice, an
///   unknown standard, a text that does not define a macro, a header in memory without a name, or
///   both a contract and a header.
void check_compile_options(compile_options const& options);

/// @throws usage_error a setting out of range.
void check_compiler_settings(compiler_settings const& settings);

/// The calls of NVRTC: for each architecture one that makes PTX and assembles it, one that makes
/// LTO-IR; for each further one of `sass` one that makes a cubin. `headers`: where they are
/// (header_files::options). `is_minimal`: leaves textures, launches and CUDA's runtime types out,
/// which halves the time.
std::vector<compile_call> nvrtc_compiles(compile_options const& options,
                                         std::vector<std::string> const& headers, bool is_minimal);

/// The calls of libNVVM: for each architecture PTX, then LTO-IR.
/// @throws usage_error cubins, which libNVVM does not make.
std::vector<compile_call> nvvm_compiles(compile_options const& options);

}  // namespace fatlink::detail
