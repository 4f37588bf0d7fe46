// SPDX-License-Identifier: Apache-2.0
// The options of compiles: all of them for `fatlink compile`, and those that a source needs
// wherever an input is taken.
#pragma once

#include "fatlink/compiler.hpp"
#include "verbs.hpp"

namespace fatlink::cli {

struct compile_flags {
  std::vector<std::string> architectures = {};  ///< "75", "sm_90a"; empty: 75
  std::vector<std::string> sass = {};
  bool use_fast_math = false;
  double limit_s = 30;
  unsigned memory_mib = 2048;
  bool no_cache = false;
  bool allow_unconfined = false;
  std::filesystem::path layer = {};  ///< a cache layer that is filled; empty: none
  compile_options options = {};      ///< of the other options

  /// @throws usage_error not an architecture.
  [[nodiscard]] compile_options make_options() const;
  /// Prints a warning for each folder of -I that is not there; nvcc ignores them silently.
  void warn_of_missing_folders() const;
  /// @throws usage_error an option of sources is given. For inputs without a source.
  void refuse_source_options() const;
  [[nodiscard]] fatlink::compiler compiler() const;
};

/// Adds --contract, --header, -I, -D, --std and --compile-timeout: what a source that is an input
/// of another verb needs.
void add_source_flags(CLI::App& verb, compile_flags& flags);

/// Adds the options of add_source_flags, and those of the code and of the compiler.
void add_compile_flags(CLI::App& verb, compile_flags& flags);

}  // namespace fatlink::cli
