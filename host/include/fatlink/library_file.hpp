// SPDX-License-Identifier: Apache-2.0
// The files of NVIDIA's shared libraries that fatlink opens at run time (nvJitLink, NVRTC,
// libNVVM). Threads: value types; objects share no state.
#pragma once

#include <string>

#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// A file that a search considered.
struct library_candidate {
  std::string path = {};     ///< as passed to dlopen
  std::string reason = {};   ///< "$CUDA_HOME", "dynamic loader", …
  std::string outcome = {};  ///< "chosen", "not tried", or why it cannot be used
};

/// The file of a library, identified without loading it.
struct library_file {
  std::string path = {};      ///< path to open
  std::string reason = {};    ///< which rule chose it
  std::string identity = {};  ///< the same on every machine, "13.0 157d67e6… 98806736": version
                              ///< ("13.?" if unknown), build ID or SHA-256, size in bytes
};

}  // namespace fatlink
