// SPDX-License-Identifier: Apache-2.0
// Links in a record (cache/record.hpp): what is needed to make a link again.
//   {"job": "link", "target": "sm_90", "mode": "lto", "emit": "cubin", "options": {…},
//    "inputs": [{"name": "…", "sha256": "…", "file": "…"}, …]}
// "options" has the fields of link_options that differ from their defaults. An input has "file", an
// absolute path, or "bytes" as hexadecimal digits if no file has it; neither if a compile of the
// record makes it. Threads: safe.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/link_options.hpp"

namespace fatlink::detail {

/// The entry of a link. Options that change neither the image nor the key are left out.
nlohmann::json record_link(std::vector<fatbin> const& inputs, link_options const& options);

struct recorded_input {
  std::string name = {};
  std::string digest = {};  ///< SHA-256, hexadecimal
  std::string file = {};    ///< empty: none
  std::string bytes = {};   ///< hexadecimal; empty: none
};

struct recorded_link {
  std::vector<recorded_input> inputs = {};
  link_options options = {};
};

/// @throws file_error (invalid_record) the entry is malformed.
recorded_link read_link_record(nlohmann::json const& entry);

/// The file that has exactly the bytes of `module`, as an absolute path; empty: none is known.
std::string file_of(fatbin const& module);

}  // namespace fatlink::detail
