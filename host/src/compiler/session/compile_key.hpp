// SPDX-License-Identifier: Apache-2.0
// The cache key of a compile: everything that its fatbin depends on. Threads: no shared state.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "compiler/contract/installed_contract.hpp"
#include "fatlink/compiler.hpp"
#include "vendor_compiler/program.hpp"

namespace fatlink::detail {

/// The SHA-256 of `text` in hexadecimal.
std::string digest_of(std::string_view text);

/// What a compile depends on besides its program and its options, and the headers that it looks up
/// (headers/compile_with_headers.hpp).
struct compile_conditions {
  std::string const& compiler;                   ///< its identity (library_file::identity)
  installed_contract const* contract = nullptr;  ///< null: none
  std::string nvrtc = {};         ///< that states the types of the contract's hooks, its identity
  bool allow_unconfined = false;  ///< whether it may run without the sandbox
};

/// Adds the name, the texts and the options of a program, and the headers in memory.
void add_program(cache_key& key, program const& subject,
                 std::map<std::string, std::string> const& headers);

/// Names of files are as the compiler sees them.
cache_key compile_key(program const& subject, std::map<std::string, std::string> const& headers,
                      compile_options const& options, compile_conditions const& conditions);

}  // namespace fatlink::detail
