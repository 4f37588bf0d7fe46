// SPDX-License-Identifier: Apache-2.0
// NVRTC, the vendor's compiler of CUDA C++, opened at run time: nothing links to it. It is one
// library and a second one beside it, libnvrtc-builtins.so.13.N, that it opens at the first
// compile. Searched as vendor_library.hpp states, $FATLINK_NVRTC first. Threads: safe; compiles of
// one process run one after the other inside of NVRTC.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fatlink/library_file.hpp"
#include "toolkit/opened_library.hpp"

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
  int (*architecture_count)(int* count) = nullptr;
  int (*architectures)(int* values) = nullptr;
  char const* (*error_name)(int code) = nullptr;
  /// Installs the bundled headers; null before 13.3.
  int (*install_headers)(char const* folder, unsigned flags, char const** log) = nullptr;
};

/// How NVRTC is searched and recognized.
vendor_library const& nvrtc_library();

/// The file that nvrtc::open would open, with nvrtc_identity(). Empty if there is no NVRTC.
std::optional<library_file> locate_nvrtc();

/// The newest libnvrtc-builtins.so.13.N beside the NVRTC in `file`; empty if there is none.
std::string builtins_of(std::string const& file);

/// The identity of the NVRTC in the file `path` and of the library of builtins beside it:
/// "13.0 65be0db3… 109338064 builtins 08d17e32… 4380616". Empty if it is none.
std::optional<std::string> nvrtc_identity(std::string const& path);

/// An opened NVRTC.
class nvrtc {
 public:
  /// Opens the first file of the search. @throws unavailable_error no file can be used; its log
  ///   lists the candidates.
  static std::shared_ptr<nvrtc const> open();
  /// Opens `file`. @throws unavailable_error it cannot be used.
  static std::shared_ptr<nvrtc const> open(std::string const& file);
  /// As open(), and sets `tried` to all candidates; null if none can be used.
  static std::shared_ptr<nvrtc const> find(std::vector<library_candidate>& tried);

  [[nodiscard]] std::string const& path() const noexcept { return opened_.path; }
  [[nodiscard]] std::string const& reason() const noexcept { return opened_.reason; }
  [[nodiscard]] std::string const& identity() const noexcept { return opened_.identity; }
  [[nodiscard]] int major() const noexcept { return major_; }
  [[nodiscard]] int minor() const noexcept { return minor_; }
  /// The compute capabilities that it compiles for: 75, 80, … without suffix.
  [[nodiscard]] std::vector<int> architectures() const;
  [[nodiscard]] nvrtc_functions const& functions() const noexcept { return functions_; }

 private:
  nvrtc() = default;
  std::string load(library_candidate const& candidate);

  opened_library opened_;
  nvrtc_functions functions_;
  int major_ = 0;
  int minor_ = 0;
};

}  // namespace fatlink::detail
