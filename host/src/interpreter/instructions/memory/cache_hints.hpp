// SPDX-License-Identifier: Apache-2.0
// Cache operators, eviction priorities, prefetch sizes and cache policies of memory accesses. There
// are no caches: they are checked for their form and have no other effect.
// Source: PTX ISA 9.0, "Cache Operators", "Cache Eviction Priority Hints".
#pragma once

#include "interpreter/decode/decoder.hpp"

namespace fatlink::interpreter {

/// Takes the words of an access's cache operator and hints. Returns whether they state a load of
/// what other blocks wrote last (.cv, .cg).
bool take_cache_hints(decoding& d);

/// Takes `.L2::cache_hint`, whose operand, the policy of 64 bits, is then the last. Returns how
/// many operands that is: 0 or 1.
unsigned take_cache_policy(decoding& d);

/// Takes an eviction priority of the cache level `level` ("L2"); false if there is none.
bool take_eviction_priority(decoding& d, std::string_view level);

}  // namespace fatlink::interpreter
