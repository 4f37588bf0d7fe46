// SPDX-License-Identifier: Apache-2.0
// The checks of fatlink_add_fatbin on a fatbin that it has built. Threads: no shared state.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fatlink/fatbin.hpp"

namespace fatlink {

struct build_expectations {
  std::vector<std::string> entries = {};  ///< required: "ptx:sm_75", "ltoir:sm_90a"
  std::string ident = {};                 ///< the ident text of every entry; empty: any
  bool hook = false;                      ///< a hook of the stated contract is defined or called
  std::filesystem::path reference = {};   ///< a REFERENCE for this fatbin; empty: none
  std::filesystem::path plan = {};        ///< a PLAN for this fatbin; empty: none
  bool allows_digest = false;  ///< the reference may be the sidecar of a product, with "sha256"
};

/// @throws file_error `input` does not meet `expected`; names the file, what is missing and the
///   remedy. @throws refused_error the plan does not fit the kernels (plan-mismatch).
void check_build(fatbin const& input, build_expectations const& expected);

}  // namespace fatlink
