// SPDX-License-Identifier: Apache-2.0
// One compile: from a source and its options to a fatbin. Threads: one at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "compiler/compiler_helpers.hpp"
#include "compiler/contract/contract_hooks.hpp"
#include "compiler/contract/find_hook_types.hpp"
#include "compiler/headers/collect_headers.hpp"
#include "compiler/headers/header_set.hpp"
#include "compiler/ir/ir_types.hpp"
#include "compiler/messages/compile_messages.hpp"
#include "fatlink/compiler.hpp"

namespace fatlink::detail {

class compile_session {
 public:
  /// The arguments must outlive it.
  compile_session(compiler_state& state, source const& code, compile_options const& options);

  /// See compiler::compile.
  compiled_source run();
  /// See compiler::find_headers.
  std::vector<std::filesystem::path> find_headers();

 private:
  [[nodiscard]] bool is_cuda() const { return code_.language() == source_language::cuda; }
  void read_contract();
  std::vector<std::filesystem::path> header_files() const;
  void read_headers();
  header_set collect_headers();
  void prepare_ir();
  std::shared_ptr<cached_link const> find_or_make();
  program make_program() const;
  std::vector<std::string> forced_names() const;
  bool is_minimal() const;
  cache_key add_known_headers(link_cache& cache);
  void store_late(cache_key const& key, cached_link const& link);
  cached_link make();
  void find_types();
  std::vector<compile_product> compile_all();
  bool is_final(std::vector<compile_product> const& products);
  cached_link make_fatbin(std::vector<compile_product> const& products);
  std::vector<compile_product> compile(program const& subject);
  void name_header_files();
  void check_confinement(helper_tool tool);
  void check_size(std::vector<compile_product> const& products);
  program const& probe();
  cache_key key_of(program const& subject);
  hook_types hook_types_of_contract();
  ir_agreement compare_ir_types(byte_buffer const& ptx);

  compiler_state& state_;
  source const& code_;
  compile_options const& options_;
  compiler_helpers helpers_;
  library_file library_;  ///< of the compiler; empty: there is none
  std::optional<installed_contract> contract_;
  std::optional<forced_header> forced_header_;
  std::string forced_name_;       ///< of forced_header_, in headers_
  std::optional<program> probe_;  ///< of the contract
  hook_types types_;              ///< of the contract
  declaration_state declarations_ = declaration_state::same;
  std::vector<std::string> late_headers_;  ///< that the compiler named, and the key did not have
  std::optional<header_set> headers_;
  compile_subject subject_;
  std::vector<std::string> warnings_;
  cache_outcome outcome_ = cache_outcome::off;
  std::string producer_;  ///< "NVRTC 13.0"
  compile_times times_;
};

}  // namespace fatlink::detail
