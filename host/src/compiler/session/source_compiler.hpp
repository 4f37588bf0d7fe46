// SPDX-License-Identifier: Apache-2.0
// Compiles the inputs of one compile to a fatbin, without the cache. Threads: one at a time.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/compiler_helpers.hpp"
#include "compiler/contract/contract_hooks.hpp"
#include "compiler/contract/find_hook_types.hpp"
#include "compiler/ir/ir_types.hpp"
#include "compiler/session/compile_inputs.hpp"

namespace fatlink::detail {

class source_compiler {
 public:
  /// The arguments must outlive it.
  source_compiler(compiler_state& state, compile_inputs& inputs, compiler_helpers& helpers)
      : state_(state), inputs_(inputs), helpers_(helpers)
  {
  }

  /// Compiles; the inputs then have a record of the headers that were looked up.
  /// @throws compile_error, unavailable_error as compiler::compile.
  cached_link make();
  /// Wall time in the compiler, milliseconds.
  [[nodiscard]] double compile_ms() const noexcept { return compile_ms_; }
  /// What the user should know though the cache keeps the result.
  [[nodiscard]] std::vector<std::string> const& warnings() const noexcept { return warnings_; }

 private:
  void find_types();
  stated_types types_of_contract();
  std::vector<compile_product> compile_all();
  std::vector<compile_product> compile(program const& subject);
  void check_confinement(helper_tool tool);
  [[noreturn]] void refuse(compile_product const& product, std::size_t number);
  ir_agreement compare_ir_types(byte_buffer const& ptx);

  compiler_state& state_;
  compile_inputs& inputs_;
  compiler_helpers& helpers_;
  hook_types types_;  ///< of the contract
  declaration_state declarations_ = declaration_state::same;
  std::vector<std::string> warnings_;
  double compile_ms_ = 0;
};

}  // namespace fatlink::detail
