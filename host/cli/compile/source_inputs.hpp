// SPDX-License-Identifier: Apache-2.0
// Inputs that may be sources: these are compiled, with the contract of the other inputs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compile/compile_flags.hpp"
#include "fatlink/input.hpp"

namespace fatlink::cli {

/// A source that was compiled.
struct compiled_input {
  std::filesystem::path file = {};
  std::string producer = {};  ///< "NVRTC 13.0"
  cache_outcome cache = cache_outcome::off;
  double ms = 0;  ///< wall time of the compile, with the start of the helper; 0 from the cache
};

/// What was compiled.
struct compile_report {
  std::vector<compiled_input> sources = {};
  std::vector<std::filesystem::path> headers = {};  ///< that the sources include
  std::vector<std::filesystem::path> missing =
      {};                                  ///< headers that were looked up and are not there
  std::vector<std::string> warnings = {};  ///< of all sources
};

/// Reads the files; sources (.cu, .ll, .bc) are compiled, several at once. A source's contract is
/// that of --contract, otherwise the one that the first other input states. Prints the compilers'
/// warnings, and adds to `report` unless it is null; of sources that do not compile, the headers.
/// `first`: the first file, if it was read already.
/// @throws as input::read, source::read and compiler::compile; usage_error an option of sources is
///   given, and no file is one.
std::vector<input> read_inputs(std::vector<std::filesystem::path> const& files,
                               compile_flags const& flags, compile_report* report = nullptr,
                               std::optional<input> first = {});

/// As above, of inputs by name or file. @throws also as input_file.
std::vector<input> read_inputs(std::vector<std::string> const& names, compile_flags const& flags,
                               compile_report* report = nullptr);

/// @throws usage_error one of `outputs`, files to write, is one of `headers`. Standard output is
/// not
///   a file.
void keep_headers(std::vector<std::filesystem::path> const& headers,
                  std::vector<std::string> const& outputs);

}  // namespace fatlink::cli
