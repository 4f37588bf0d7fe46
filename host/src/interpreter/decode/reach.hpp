// SPDX-License-Identifier: Apache-2.0
// What a kernel reaches: the functions that it calls or takes the address of, and theirs, and the
// shared memory that these declare. A block has the shared variables of its kernel, not those of
// the whole module.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "interpreter/decode/link_modules.hpp"

namespace fatlink::interpreter {

/// The indices of `roots` and of all functions that they reach, ascending.
std::vector<unsigned> reachable_functions(linked_modules const& modules,
                                          std::vector<unsigned> const& roots);

/// Offsets in the shared memory of a block. Units: bytes.
struct shared_layout {
  std::map<unsigned, std::uint64_t> variables;  ///< by index into linked_modules::variables
  /// Static variables of functions, by function and index in function::variables.
  std::map<std::pair<unsigned, unsigned>, std::uint64_t> inner;
  std::uint64_t bytes = 0;  ///< a multiple of 128: dynamic shared memory begins there
};

/// Lays out the shared variables that `functions` declare or use.
/// @throws failure (invalid) more than 48 KiB, naming the first variable beyond them.
shared_layout lay_out_shared(linked_modules const& modules, std::vector<unsigned> const& functions);

}  // namespace fatlink::interpreter
