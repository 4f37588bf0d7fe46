// SPDX-License-Identifier: Apache-2.0
// What instructions that access memory have in common: the state space, the memory order, cache
// hints, the address. There are no caches: cache operators, eviction priorities, prefetch sizes and
// policies are checked for their form and have no other effect. Source: PTX ISA 9.0, "Data Movement
// and Conversion Instructions", "atom", "red", "Cache Operators", "Cache Eviction Priority Hints".
#pragma once

#include <vector>

#include "interpreter/decode/decoder.hpp"

namespace fatlink::interpreter {

enum class memory_order { weak, relaxed, acquire, release };

/// Takes relaxed, acquire or release; weak if there is none.
memory_order take_order(decoding& d);
/// Takes the scope of a memory order (cta, gpu, …). Every scope is treated as .sys.
void take_scope(decoding& d);
/// Takes the state space; space::generic if there is none.
space take_space(decoding& d);

/// An address that is computed at run time: the register or constant `base` plus `offset`.
struct computed_address {
  operand_offset base = k_no_operand;  ///< k_no_operand: an absolute address
  std::uint64_t offset = 0;
  unsigned width = 8;  ///< bytes of `base`: 4 only in shared memory; widened in others
};

/// Decodes the address [base + offset] of an access to `space`.
/// @throws code_error (refused) not an address, or a base of another width.
computed_address decode_address(decoding& d, syntax::operand const& address, space space);

/// The elements of a vector {…}; another operand is its only element.
std::vector<syntax::operand> elements_of(syntax::operand const& operand);
/// Takes .v2, .v4 or .v8. Returns the number of elements, 1 unless stated.
unsigned take_element_count(decoding& d);

/// Adds an operation that computes the generic address of [base + offset], an address of `space`.
/// Returns the register of 64 bits that holds it.
/// @throws code_error (refused) not an address, or a base of another width.
operand_offset emit_generic_address(decoding& d, syntax::operand const& address, space space);

/// Takes the words of an access's cache operator and hints. Returns whether they state a load of
/// what other blocks wrote last (.cv, .cg).
bool take_cache_hints(decoding& d);

/// Takes `.L2::cache_hint`, whose operand, the policy of 64 bits, is then the last. Returns how
/// many operands that is: 0 or 1.
unsigned take_cache_policy(decoding& d);

/// Takes an eviction priority of the cache level `level` ("L2"); false if there is none.
bool take_eviction_priority(decoding& d, std::string_view level);

// Forms of st and red that async_copy.cpp decodes; "async" is taken.
void decode_async_store(decoding& d);
void decode_async_reduction(decoding& d);

}  // namespace fatlink::interpreter
