// SPDX-License-Identifier: Apache-2.0
// What one compile compiles: the source, its contract or header, and the headers that it includes.
// Threads: one at a time.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compiler/headers/collect_headers.hpp"
#include "compiler/headers/header_set.hpp"
#include "compiler/messages/compile_subject.hpp"
#include "fatlink/compiler.hpp"

namespace fatlink::detail {

class compile_inputs {
 public:
  /// The arguments must outlive it.
  compile_inputs(source const& code, compile_options const& options);

  /// Reads the contract. @throws as compiler::compile.
  void read_contract();
  /// Reads the headers, after read_contract(). `compiler_file`: of the compiler; empty fields:
  /// there is none. `helpers` must outlive this object. @throws as compiler::compile.
  void read(library_file compiler_file, compiler_helpers& helpers, link_cache const* cache);

  [[nodiscard]] bool is_cuda() const { return code.language() == source_language::cuda; }
  /// Whether NVRTC is first asked to leave its own declarations out: there are no headers. That
  /// takes half the time.
  [[nodiscard]] bool is_minimal() const { return is_cuda() && headers->has_only_forced(); }
  /// The program, with the headers that are known so far.
  [[nodiscard]] program make_program() const;
  /// The same with NVRTC's own declarations.
  [[nodiscard]] program make_full_program() const;
  /// What a compile that a package ships depends on, whatever compiler made it: the program of CUDA
  /// C++ with the headers that are not CUDA's own, which this reads instead of read().
  /// After read_contract(). @throws as read().
  [[nodiscard]] program make_shipped_program(compiler_helpers& helpers);
  /// The files of the headers, and of compile_options::header.
  [[nodiscard]] std::vector<std::filesystem::path> header_files() const;
  /// Fills subject.header_files. Relative to the working folder, if they are below it.
  void name_header_files();

  source const& code;
  compile_options const& options;
  library_file library = {};  ///< of the compiler; set by read()
  std::string producer = {};  ///< "NVRTC 13.0"; set by read()
  std::optional<installed_contract> contract = {};
  std::optional<header_set> headers = {};  ///< of LLVM IR: libdevice, if it is needed
  compile_subject subject;
  std::vector<std::string> warnings = {};  ///< about options and headers

 private:
  [[nodiscard]] header_request make_header_request() const;
  void read_headers(compiler_helpers& helpers, link_cache const* cache);
  void read_ir();
  [[nodiscard]] program make_program(bool is_minimal) const;
  void use(collected_headers collected);

  std::optional<forced_header> forced_header_;
  std::vector<std::string> forced_names_;  ///< of forced_header_ in the set; one or none
};

}  // namespace fatlink::detail
