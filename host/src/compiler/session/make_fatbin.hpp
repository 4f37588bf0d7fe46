// SPDX-License-Identifier: Apache-2.0
// The fatbin of a compile that succeeded, after all checks of its code. Threads: no shared state.
#pragma once

#include <vector>

#include "compiler/contract/check_hooks.hpp"
#include "compiler/session/compile_inputs.hpp"
#include "fatlink/cache.hpp"

namespace fatlink::detail {

/// `products`: of all architectures. `types`: of the contract's hooks. `agreement`: of LLVM IR with
/// them; `same` where there is nothing to compare. The warnings name files as the compiler does.
/// @throws compile_error above_limit: the products are larger than 64 MiB; as check_hooks,
///   check_ir_types, check_libdevice.
cached_link make_fatbin(std::vector<compile_product> const& products, compile_inputs const& inputs,
                        hook_types const& types, ir_agreement agreement);

}  // namespace fatlink::detail
