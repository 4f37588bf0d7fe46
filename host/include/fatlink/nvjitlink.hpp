// SPDX-License-Identifier: Apache-2.0
// Finds and opens nvJitLink at run time; fatlink does not link to it. The first file that can be
// opened and has all functions is used. The search order is:
//   1. the file $FATLINK_NVJITLINK; if it is set, no other file is tried
//   2. nvidia/cu13/lib beside fatlink's Python package, where pip installs NVIDIA's wheel
//   3. the prefixes of the program and of libfatlink.so: lib/fatlink, where packages put a copy,
//      and lib, where a build tree has a symbolic link to the nvJitLink of its toolkit
//   4. $CUDA_HOME, $CUDA_PATH: lib64, lib, targets/x86_64-linux/lib (AArch64: sbsa-linux)
//   5. $VIRTUAL_ENV: lib/python3.*/site-packages/nvidia/cu13/lib, where NVIDIA's wheels put it;
//      $CONDA_PREFIX: lib, the same folder of targets, and the folder of the wheels
//   6. the dynamic loader: libnvJitLink.so.13
//   7. /usr/local/cuda/lib64
// Threads: safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fatlink/error.hpp"
#include "fatlink/export.hpp"
#include "fatlink/library_file.hpp"

namespace FATLINK_API fatlink {

using nvjitlink_candidate = library_candidate;  ///< a file of the search
using nvjitlink_file = library_file;            ///< the file of an nvJitLink

/// An opened nvJitLink and how it was found.
class nvjitlink {
 public:
  /// Opens the first usable file of the search; every call in a process returns the same object.
  /// @throws unavailable_error no file can be used; the log lists the candidates.
  static std::shared_ptr<nvjitlink const> open();

  /// Opens the first usable file of the search, and sets `tried` to all candidates; null if none
  /// can be used. A file that several rules find is listed once, with the first of these rules.
  static std::shared_ptr<nvjitlink const> find(std::vector<nvjitlink_candidate>& tried);

  /// Opens `file`. @throws unavailable_error the file cannot be used.
  static std::shared_ptr<nvjitlink const> open(std::string const& file);

  /// Finds the file that open() would open, and identifies it by its bytes without loading it;
  /// nullopt if there is none. Takes about 0.1 ms.
  static std::optional<nvjitlink_file> locate();

  ~nvjitlink();
  nvjitlink(nvjitlink const&) = delete;
  nvjitlink& operator=(nvjitlink const&) = delete;

  [[nodiscard]] std::string const& path() const noexcept;    ///< the real file opened
  [[nodiscard]] std::string const& reason() const noexcept;  ///< which rule chose it
  [[nodiscard]] std::string const& identity()
      const noexcept;                             ///< library_file::identity; empty: unknown
  [[nodiscard]] unsigned major() const noexcept;  ///< 13 of 13.0
  [[nodiscard]] unsigned minor() const noexcept;  ///< 0 of 13.0

  struct FATLINK_PRIVATE api;  ///< the functions; private to the library
  [[nodiscard]] api const& functions() const noexcept;

 private:
  struct FATLINK_PRIVATE state;
  explicit nvjitlink(std::unique_ptr<state> opened);
  std::unique_ptr<state> state_;
};

}  // namespace fatlink
