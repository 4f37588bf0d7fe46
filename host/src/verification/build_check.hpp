// SPDX-License-Identifier: Apache-2.0
// What fatlink_add_fatbin requires of a fatbin that it has just built. Threads: no shared state.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fatlink/fatbin.hpp"

namespace fatlink {

struct build_expectations {
  std::vector<std::string> entries = {};  ///< that must be there: "ptx:sm_75", "ltoir:sm_90a"
  std::string ident = {};                 ///< the ident text of every entry; empty: any
  bool hook = false;                      ///< a hook of the stated contract is defined or called
  std::filesystem::path reference = {};   ///< a REFERENCE for this fatbin; empty: none
};

/// Checks `input` against what was asked for.
/// @throws file_error names the file, what is missing and the remedy.
void check_build(fatbin const& input, build_expectations const& expected);

}  // namespace fatlink
