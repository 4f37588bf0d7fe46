// SPDX-License-Identifier: Apache-2.0
// What one compile compiles: the source, its contract or header, and the headers that it may
// include. Threads: one at a time.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compiler_helpers.hpp"
#include "compiler/headers/cuda_headers.hpp"
#include "compiler/headers/header_files.hpp"
#include "compiler/messages/compile_subject.hpp"
#include "fatlink/compiler.hpp"

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
  /// `is_minimal`: see compile_with_headers.hpp.
  [[nodiscard]] program make_program(bool is_minimal = false) const;
  /// The headers that were read, and compile_options::header.
  [[nodiscard]] std::vector<std::filesystem::path> read_headers() const;
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
};

}  // namespace fatlink::detail
