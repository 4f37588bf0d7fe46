// SPDX-License-Identifier: Apache-2.0
// Compiles in a record (cache/record.hpp): what is needed to make a compile again.
//   {"job": "compile", "name": "half.cu", "language": "cuda", "file": "…", "sha256": "…",
//    "folder": "…", "options": {…}, "result": "…"}
// "sha256" is the digest of the source, "result" that of the compiled fatbin. "file" is an absolute
// path; if no file has the source, "text" is there instead, or "bytes" as hexadecimal digits for
// LLVM bitcode. "folder" is absolute, and empty if no folder of the source is searched. "options"
// has all fields of compile_options. Threads: safe.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "fatlink/compiler.hpp"
#include "fatlink/source.hpp"

namespace fatlink::detail {

/// The entry of a compile. Later links of `result` record its digest only.
nlohmann::json record_compile(source const& code, compile_options const& options,
                              fatbin const& result);

struct recorded_compile {
  fatlink::source code;
  std::string file = {};  ///< of the source; empty: the record has it
  compile_options options = {};
  std::string result = {};  ///< SHA-256 of the fatbin, hexadecimal
};

/// Reads the source again. @throws file_error (invalid_record) the entry is malformed;
/// (digest_mismatch) the file of the source has changed; as source::read.
recorded_compile read_compile_record(nlohmann::json const& entry);

}  // namespace fatlink::detail
