// SPDX-License-Identifier: Apache-2.0
// libNVVM, the vendor's compiler of LLVM IR, opened at run time: nothing links to it. Searched as
// toolkit_library.hpp states, $FATLINK_LIBNVVM first. It compiles in the process that calls this,
// which should be the helper: damaged IR can crash it. Threads: safe.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fatlink/library_file.hpp"
#include "toolkit/program.hpp"
#include "toolkit/toolkit_library.hpp"

namespace fatlink::detail {

/// libNVVM's functions, with the types of nvvm.h.
struct nvvm_functions {
  using program = struct nvvm_program_state*;
  int (*create)(program* result) = nullptr;
  int (*destroy)(program* handle) = nullptr;
  int (*add)(program handle, char const* bytes, std::size_t size, char const* name) = nullptr;
  int (*add_lazily)(program handle, char const* bytes, std::size_t size,
                    char const* name) = nullptr;
  int (*verify)(program handle, int option_count, char const* const* options) = nullptr;
  int (*compile)(program handle, int option_count, char const* const* options) = nullptr;
  int (*result_size)(program handle, std::size_t* size) = nullptr;
  int (*result)(program handle, char* buffer) = nullptr;
  int (*log_size)(program handle, std::size_t* size) = nullptr;
  int (*log)(program handle, char* buffer) = nullptr;
  int (*version)(int* major, int* minor) = nullptr;
  int (*ir_version)(int* ir_major, int* ir_minor, int* debug_major, int* debug_minor) = nullptr;
  char const* (*error_name)(int code) = nullptr;
};

/// How libNVVM is searched and recognized.
toolkit_library const& nvvm_library();

/// The libdevice.10.bc for the libNVVM `file`: of its toolkit or wheel, else of another toolkit
/// (toolkit_roots); empty if there is none.
std::string libdevice_of(std::string const& file);

/// An opened libNVVM. major() and minor() are those of its interface: 2.0.
class nvvm : public opened_compiler<nvvm> {
 public:
  static toolkit_library const& library() { return nvvm_library(); }
  [[nodiscard]] nvvm_functions const& functions() const noexcept { return functions_; }

 private:
  friend class opened_compiler<nvvm>;
  nvvm() = default;
  std::string load(library_candidate const& candidate);

  nvvm_functions functions_ = {};
};

/// Verifies `subject`, text or bitcode, and compiles it once for each of its option lists; stops at
/// the first that fails: the last product has its code and log. Its headers are bitcode libraries
/// (libdevice), added lazily: functions that nothing calls are left out; names that end in .ll are
/// modules of the same program. A product has LTO-IR if
/// its options have -gen-lto, otherwise PTX.
std::vector<compile_product> compile_with_nvvm(nvvm const& compiler, program const& subject);

}  // namespace fatlink::detail
