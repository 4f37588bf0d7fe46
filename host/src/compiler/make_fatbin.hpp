// SPDX-License-Identifier: Apache-2.0
// The fatbin of a compile that succeeded, after all checks of its code: an entry for each form and
// architecture, with the ident that fatlink_add_fatbin would write, and digests.
// Threads: no shared state.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/check_hooks.hpp"
#include "compiler/compile_inputs.hpp"
#include "compiler/installed_contract.hpp"
#include "fatlink/cache.hpp"
#include "fatlink/compiler.hpp"
#include "toolkit/program.hpp"

namespace fatlink::detail {

/// `products`: of all architectures. `types`: of the contract's hooks. `agreement`: of LLVM IR with
/// them; `same` where there is nothing to compare. The warnings name files as the compiler does.
/// @throws compile_error above_limit: the products are larger than 64 MiB; as check_hooks,
///   check_ir_types, check_libdevice.
cached_link make_fatbin(std::vector<compile_product> const& products, compile_inputs const& inputs,
                        hook_types const& types, ir_agreement agreement);

/// What the ident of a compiled fatbin states.
struct compile_facts {
  installed_contract const* contract = nullptr;   ///< null: none
  std::map<std::string, std::string> hooks = {};  ///< of the contract, mangled types
  std::string producer = {};                      ///< "NVRTC 13.0"
  std::string toolkit = {};                       ///< "13.0"; empty: unknown
};

/// The toolkit that a compiler names in the comments before its PTX: "13.0"; empty: none.
std::string stated_toolkit(bytes_view ptx);

/// The bytes of the fatbin. `products`: of the compiles in the order of nvrtc_compiles() or
/// nvvm_compiles(). The same products give the same bytes. `name` is for messages.
/// @throws format_error a product that fatlink cannot read: a defect, or a compiler newer than it.
byte_buffer assemble_fatbin(std::vector<compile_product> const& products,
                            compile_options const& options, compile_facts const& facts,
                            std::string const& name);

}  // namespace fatlink::detail
