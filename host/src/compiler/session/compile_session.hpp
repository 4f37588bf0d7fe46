// SPDX-License-Identifier: Apache-2.0
// One compile: from a source and its options to a fatbin, through the cache. Threads: one at a
// time.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "compiler/compiler_helpers.hpp"
#include "compiler/session/compile_inputs.hpp"
#include "compiler/session/source_compiler.hpp"
#include "fatlink/compiler.hpp"
#include "util/process/stopwatch.hpp"

namespace fatlink::detail {

class compile_session {
 public:
  /// The arguments must outlive it.
  compile_session(compiler_state& state, source const& code, compile_options const& options);

  /// See compiler::compile.
  compiled_source run();
  /// See compiler::compile_into.
  compiled_source run_into(std::filesystem::path const& layer);
  /// What the compile looked up so far.
  [[nodiscard]] header_lookups lookups();

 private:
  compiled_source make_result(stopwatch& watch);
  void read_inputs();
  [[nodiscard]] bool may_use_shipped() const;
  [[nodiscard]] cache_key make_shipped_key() const;
  std::shared_ptr<cached_link const> find_shipped();
  void write_shipped(std::filesystem::path const& layer);
  std::shared_ptr<cached_link const> find_or_make();
  [[nodiscard]] bool has_identities() const;
  cache_key make_key();
  void add_warnings(std::vector<std::string> const& warnings);

  compiler_state& state_;
  compiler_helpers helpers_;
  compile_inputs inputs_;
  source_compiler compiler_;
  std::vector<std::string> warnings_;
  compile_times times_;
  std::shared_ptr<cached_link const> product_;  ///< null: not found or made yet
  cache_outcome outcome_ = cache_outcome::off;
};

}  // namespace fatlink::detail
