// SPDX-License-Identifier: Apache-2.0
// The folder's figures, in its file `ledger`, read and written under the ledger's lock. A missing
// or damaged one counts as empty: its entries are then counted anew.
//
// <ledger> ::= <magic> <version> <counted> 6 x u64 <text> <check>
// <magic>  ::= "FLNKLEDG"   <version> ::= u32, 1   <counted> ::= u32, 1: `bytes` is known
// The numbers are in the order of `figures`; <text> is the last fault. <check> ::= SHA-256 of
// everything before.
#pragma once

#include <cstdint>
#include <string>

#include "cache/folder.hpp"

namespace fatlink::cache {

struct figures {
  bool counted = false;     ///< else `bytes` is not known: count
  std::uint64_t bytes = 0;  ///< of the entries when they were counted, and booked since
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t stored = 0;
  std::uint64_t evicted = 0;
  std::uint64_t faults = 0;
  std::string last_fault;
};

/// @throws fault
figures read_ledger(folder const& in);
/// Whether there is a ledger that is sound. @throws fault
bool has_ledger(folder const& in);
/// @throws fault
void write_ledger(folder const& in, figures const& now);

}  // namespace fatlink::cache
