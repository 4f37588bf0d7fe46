// SPDX-License-Identifier: Apache-2.0
// libNVVM, the vendor's compiler of LLVM IR, opened at run time: nothing links to it. Searched as
// vendor_library.hpp states, $FATLINK_LIBNVVM first. Threads: safe.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fatlink/library_file.hpp"
#include "vendor_compiler/opened_compiler.hpp"

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
vendor_library const& nvvm_library();

/// The libdevice.10.bc for the libNVVM `file`: of its toolkit or wheel, else of another toolkit
/// (toolkit_roots); empty if there is none.
std::string libdevice_of(std::string const& file);

/// An opened libNVVM. major() and minor() are those of its interface: 2.0.
class nvvm : public opened_compiler<nvvm> {
 public:
  static vendor_library const& library() { return nvvm_library(); }
  [[nodiscard]] nvvm_functions const& functions() const noexcept { return functions_; }

 private:
  friend class opened_compiler<nvvm>;
  nvvm() = default;
  std::string load(library_candidate const& candidate);

  nvvm_functions functions_ = {};
};

}  // namespace fatlink::detail
