// SPDX-License-Identifier: Apache-2.0
// NVRTC, the vendor's compiler of CUDA C++, opened at run time: nothing links to it. It is one
// library and a second one beside it, libnvrtc-builtins.so.13.N, that it opens at the first
// compile, by its name: NVRTC 13.0 finds it only in the loader's folders, so fatlink opens it
// before. Searched as toolkit_library.hpp states, $FATLINK_NVRTC first. It compiles in the process
// that calls this, which should be the helper: sources can make it use all memory, never end, or
// crash. Threads: safe; compiles of one process run one after the other inside of NVRTC.
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

/// NVRTC's functions, with the types of nvrtc.h.
struct nvrtc_functions {
  using program = struct nvrtc_program_state*;
  int (*create)(program* result, char const* source, char const* name, int header_count,
                char const* const* headers, char const* const* header_names) = nullptr;
  int (*destroy)(program* handle) = nullptr;
  int (*compile)(program handle, int option_count, char const* const* options) = nullptr;
  int (*log_size)(program handle, std::size_t* size) = nullptr;
  int (*log)(program handle, char* buffer) = nullptr;
  int (*ptx_size)(program handle, std::size_t* size) = nullptr;
  int (*ptx)(program handle, char* buffer) = nullptr;
  int (*ltoir_size)(program handle, std::size_t* size) = nullptr;
  int (*ltoir)(program handle, char* buffer) = nullptr;
  int (*cubin_size)(program handle, std::size_t* size) = nullptr;
  int (*cubin)(program handle, char* buffer) = nullptr;
  int (*version)(int* major, int* minor) = nullptr;
  char const* (*error_name)(int code) = nullptr;
  /// Installs the bundled headers; null before 13.3.
  int (*install_headers)(char const* folder, unsigned flags, char const** log) = nullptr;
};

/// How NVRTC is searched and recognized.
toolkit_library const& nvrtc_library();

/// The file that nvrtc::open would open, with nvrtc_identity(). Empty if there is no NVRTC.
std::optional<library_file> locate_nvrtc(identity_reader const& identify = library_identity);

/// The libnvrtc-builtins.so.13.N beside the NVRTC in `file`: of the version that the name of its
/// real file states (libnvrtc.so.13.0.88), else the newest; empty if there is none.
std::string builtins_of(std::string const& file);

/// The identity of the NVRTC in the file `path` and of the library of builtins beside it:
/// "13.0 65be0db3… 109338064 builtins 08d17e32… 4380616". Empty if it is none.
std::optional<std::string> nvrtc_identity(std::string const& path,
                                          identity_reader const& identify = library_identity);

/// An opened NVRTC.
class nvrtc : public opened_compiler<nvrtc> {
 public:
  static toolkit_library const& library() { return nvrtc_library(); }
  [[nodiscard]] nvrtc_functions const& functions() const noexcept { return functions_; }

 private:
  friend class opened_compiler<nvrtc>;
  nvrtc() = default;
  std::string load(library_candidate const& candidate);

  nvrtc_functions functions_ = {};
};

/// Compiles `subject` once for each of its option lists, and stops at the first that fails: the
/// last product has its code and log. Other headers than those of `subject`, which come first, are
/// read from the folders that the options name.
std::vector<compile_product> compile_with_nvrtc(nvrtc const& compiler, program const& subject);

/// Unpacks the headers of CUDA and CCCL that NVRTC brings from 13.3 on (21 MB) to `folder`, unless
/// they are there; other processes that do so wait.
/// @throws unavailable_error it brings none, or cannot write there.
void install_headers(nvrtc const& compiler, std::string const& folder);

/// Compiles a line of code, so that NVRTC opens all files that it ever opens. Call it before the
/// process is confined. @throws unavailable_error NVRTC cannot compile: its builtins are missing.
void warm_up(nvrtc const& compiler);

}  // namespace fatlink::detail
