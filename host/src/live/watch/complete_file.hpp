// SPDX-License-Identifier: Apache-2.0
// An input file and its sidecar that belong together. Threads: no shared state.
#pragma once

#include <filesystem>
#include <string>

#include "fatlink/input.hpp"

namespace fatlink::detail {

struct complete_file {
  input code;
  std::string sidecar = {};  ///< the text of the .json; empty: there is none
};

/// Reads the file and its sidecar; where the sidecar states a digest, the file has it.
/// @throws file_error, format_error as input::read; digest-mismatch also where the sidecar was
///   replaced in between.
complete_file read_complete(std::filesystem::path const& path);

}  // namespace fatlink::detail
