// SPDX-License-Identifier: Apache-2.0
// Finds nvJitLink, which is opened at run time and never linked. Search order, first that
// opens and has the functions wins, nothing else is tried once one was named explicitly:
//   1. $FATLINK_NVJITLINK, a file: used or an error, never passed over. (A link that a shipped
//      layer of the cache has for hosts without any needs none.)
//   2. `lib/fatlink` beside the program's folder, a copy that a package bundles; `lib` there, a
//   build
//      tree's link to its toolkit
//   3. $CUDA_HOME, $CUDA_PATH: lib64, lib, targets/x86_64-linux/lib
//   4. the active environments. $VIRTUAL_ENV: where the vendor's wheels put it,
//      lib/python3.*/site-packages/nvidia/cu13/lib. $CONDA_PREFIX: lib, targets/x86_64-linux/lib,
//      and the wheels' folder. A toolkit that is named goes before an environment that is active,
//      and both before what the system has.
//   5. the dynamic loader: libnvJitLink.so.13
//   6. /usr/local/cuda
// Threads: safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fatlink/error.hpp"
#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// A place that was tried.
struct nvjitlink_candidate {
  std::string path = {};     ///< as passed to dlopen
  std::string reason = {};   ///< "$CUDA_HOME", "dynamic loader", …
  std::string outcome = {};  ///< "chosen", "not tried", or dlopen's own words
};

/// The file of an nvJitLink, known without loading it.
struct nvjitlink_file {
  std::string path = {};      ///< to open
  std::string reason = {};    ///< which rule chose it
  std::string identity = {};  ///< the same on every machine: "13.0 157d67e6… 98806736", version,
                              ///< build ID (or SHA-256) and size in bytes
};

/// An opened nvJitLink and how it was found.
class nvjitlink {
 public:
  /// Opens by the search order; the same object for every call in a process.
  /// @throws unavailable_error none found; the message lists what was tried.
  static std::shared_ptr<nvjitlink const> open();

  /// Opens by the search order, reporting every candidate; null when none was found. A file that
  /// several rules lead to is reported once, for the first of them.
  static std::shared_ptr<nvjitlink const> find(std::vector<nvjitlink_candidate>& tried);

  /// Opens `file` and no other. @throws unavailable_error it cannot be used.
  static std::shared_ptr<nvjitlink const> open(std::string const& file);

  /// The file that open() would open, by the same search, from what the files say of themselves;
  /// nothing where there is none. Costs some 0.1 ms.
  static std::optional<nvjitlink_file> locate();

  ~nvjitlink();
  nvjitlink(nvjitlink const&) = delete;
  nvjitlink& operator=(nvjitlink const&) = delete;

  [[nodiscard]] std::string const& path() const noexcept;      ///< the real file opened
  [[nodiscard]] std::string const& reason() const noexcept;    ///< which rule chose it
  [[nodiscard]] std::string const& identity() const noexcept;  ///< of the file; empty: unknown
  [[nodiscard]] unsigned major() const noexcept;               ///< 13 of 13.0
  [[nodiscard]] unsigned minor() const noexcept;               ///< 0 of 13.0

  struct FATLINK_PRIVATE api;  ///< the functions; private to the library
  [[nodiscard]] api const& functions() const noexcept;

 private:
  struct FATLINK_PRIVATE state;
  explicit nvjitlink(std::unique_ptr<state> opened);
  std::unique_ptr<state> state_;
};

}  // namespace fatlink
