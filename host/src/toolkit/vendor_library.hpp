// SPDX-License-Identifier: Apache-2.0
// Where the vendor's shared libraries are searched: nvJitLink, NVRTC, libNVVM. Nothing links to
// them. The order, in which the first usable file wins:
//   1. the file that the library's variable names ($FATLINK_NVJITLINK, …), and then no other
//   2. nvidia/cu13 beside fatlink's Python package, where pip installs the vendor's wheels
//   3. in the prefix of the program and in that of libfatlink.so: lib/fatlink, where packages put a
//      copy, and lib, where the build tree has a link to its toolkit
//   4. $CUDA_HOME, $CUDA_PATH: the folders of a toolkit
//   5. $VIRTUAL_ENV: the folders of the vendor's wheels; $CONDA_PREFIX: those of a toolkit and of
//      wheels
//   6. the dynamic loader
//   7. /usr/local/cuda
// Threads: safe.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/error.hpp"
#include "fatlink/library_file.hpp"

namespace fatlink::detail {

/// One of the vendor's libraries.
struct vendor_library {
  char const* title = "";     ///< for messages: "NVRTC"
  char const* name = "";      ///< of the file: "libnvrtc.so.13"
  char const* variable = "";  ///< "FATLINK_NVRTC"
  unsigned major = 0;         ///< the version that fatlink uses
  /// In a toolkit: "lib64". The first is that of /usr/local/cuda.
  std::vector<char const*> folders = {};
  char const* wheel_folder = "";                ///< in a wheel's nvidia/cu13: "lib"
  std::vector<char const*> functions = {};      ///< part of the exported names of every version
  std::string_view versioned_name = {};         ///< exported as __NAME_13_0; empty: has none
  char const* remedy = "";                      ///< how to install it
  error_code unavailable = error_code::defect;  ///< of the error where there is none
  stage origin = stage::linker;                 ///< of that error
};

/// All files of the search, whether there or not. A file that several rules find is listed once,
/// for the first of them.
std::vector<library_candidate> list_candidates(vendor_library const& library);

/// The file of `candidate`, which may be a name that the dynamic loader searches; empty if it finds
/// none.
std::optional<std::string> path_of(library_candidate const& candidate);

/// How an identity is read: as library_identity() does, from the file or from a memory of it.
using identity_reader = std::function<std::optional<std::string>(std::string const& path,
                                                                 vendor_library const& library)>;

/// The first file of the search that is `library`, without loading it. Takes about 0.1 ms.
std::optional<library_file> locate(vendor_library const& library);
/// The same, with the identities that `identify` reads.
std::optional<library_file> locate(vendor_library const& library, identity_reader const& identify);

/// @throws unavailable_error always: the only permitted file, `candidate`, cannot be used, for the
///   reason in its `outcome`.
[[noreturn]] void refuse_library(vendor_library const& library, library_candidate const& candidate);

/// @throws unavailable_error always: none of `candidates` can be used.
[[noreturn]] void refuse_library(vendor_library const& library,
                                 std::vector<library_candidate> const& candidates);

/// The roots of toolkits and wheels in which the search looks, in its order: also the places of
/// their headers.
std::vector<std::filesystem::path> toolkit_roots();

}  // namespace fatlink::detail
