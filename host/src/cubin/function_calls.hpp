// SPDX-License-Identifier: Apache-2.0
// The functions of a relocatable cubin, with their registers and what they call. Source: the
// attributes and the call graph (docs/cubin_format.md). Threads: no shared state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cubin/cubin.hpp"

namespace fatlink::detail {

/// A function that a cubin defines or declares.
struct cubin_function {
  std::string name = {};
  bool is_kernel = false;
  bool is_private = false;          ///< no other module can call it
  std::uint32_t registers = 0;      ///< of each thread; 0 of a declaration
  std::uint32_t max_registers = 0;  ///< of a kernel: what its launch bounds leave; 0 if not stated
  std::vector<std::size_t> callees = {};  ///< positions in the list of functions
};

/// All functions, in the order of the symbols. Calls by address are not listed.
/// @throws format_error (stage input) as read_cubin().
std::vector<cubin_function> read_function_calls(bytes_view bytes, cubin_name const& name);

}  // namespace fatlink::detail
