// SPDX-License-Identifier: Apache-2.0
// The options of compiles, all of them for `fatlink compile` and those that a source needs wherever
// an input is taken; and inputs that may be sources: these are compiled, with the contract of the
// other inputs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fatlink/compiler.hpp"
#include "fatlink/input.hpp"
#include "verbs.hpp"

namespace fatlink::cli {

struct compile_flags {
  std::vector<std::string> architectures = {};  ///< "75", "sm_90a"; empty: 75
  std::vector<std::string> sass = {};
  bool use_fast_math = false;
  double limit_s = 30;
  unsigned memory_mib = 2048;
  bool no_cache = false;
  bool offline = false;
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

/// The cache of links and compiles; null with --no-cache.
std::shared_ptr<link_cache> cache_unless(bool no_cache);
/// Of an option in seconds.
std::chrono::milliseconds to_milliseconds(double seconds);

/// Adds --offline, which excludes --no-cache of `verb`.
void add_offline(CLI::App& verb, bool& offline);

/// Adds --contract, --header, -I, -D, --std and --compile-timeout: what a source that is an input
/// of another verb needs.
void add_source_flags(CLI::App& verb, compile_flags& flags);

/// Adds the options of add_source_flags, and those of the code and of the compiler.
void add_compile_flags(CLI::App& verb, compile_flags& flags);

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
