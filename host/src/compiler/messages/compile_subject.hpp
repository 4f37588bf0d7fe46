// SPDX-License-Identifier: Apache-2.0
// The source of a compile, for messages. Threads: values.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/contract/installed_contract.hpp"

namespace fatlink::detail {

struct compile_subject {
  std::string name = {};                         ///< as the user gave it: "src/half.cu"
  std::string program_name = {};                 ///< as the compiler knows it: "half.cu"
  installed_contract const* contract = nullptr;  ///< null: none
  bool has_header = false;                       ///< one that is included instead of a contract's
  std::vector<std::string> folders = {};         ///< that #include searches
  /// The file of each header, for editors, by the path at which the compiler looked it up
  /// (header_files); filled before messages are made.
  std::map<std::string, std::string> header_files = {};
  std::string headers_problem = {};  ///< why NVRTC could not unpack its headers; empty: it did
};

}  // namespace fatlink::detail
