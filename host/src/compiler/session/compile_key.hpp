// SPDX-License-Identifier: Apache-2.0
// The cache key of a compile: everything that its fatbin depends on. Threads: no shared state.
#pragma once

#include <string>
#include <string_view>

#include "compiler/contract/installed_contract.hpp"
#include "fatlink/compiler.hpp"
#include "vendor_compiler/program.hpp"

namespace fatlink::detail {

/// The SHA-256 of `text` in hexadecimal.
std::string digest_of(std::string_view text);

/// What a compile depends on besides its program and its options.
struct compile_conditions {
  std::string const& compiler;                   ///< its identity (library_file::identity)
  installed_contract const* contract = nullptr;  ///< null: none
  /// What states the types of the contract's hooks, which the fatbin states; null: no contract.
  program const* hook_probe = nullptr;
  std::string nvrtc = {};         ///< the identity of the compiler of `hook_probe`
  bool allow_unconfined = false;  ///< whether it may run without the sandbox
};

/// Adds the name, the texts and the options of a program.
void add_program(cache_key& key, program const& subject);

/// Names of files are as the compiler sees them, without folders.
cache_key compile_key(program const& subject, compile_options const& options,
                      compile_conditions const& conditions);

}  // namespace fatlink::detail
