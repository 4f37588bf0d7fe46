// SPDX-License-Identifier: Apache-2.0
// What PTX and SASS entries of a fatbin state. An entry is decompressed and parsed once; the result
// is kept with the fatbin's bytes and shared by its copies. Threads: safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>

#include "cubin/cubin.hpp"
#include "fatbin/sidecar.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/ptx_interface.hpp"

namespace fatlink {

namespace detail {

struct entry_facts {
  ptx_interface interface = {};
  bool is_relocatable = false;                ///< of an elf entry; see cubin::is_relocatable
  std::optional<cubin_toolkit> toolkit = {};  ///< of an elf entry; see cubin::toolkit
};

}  // namespace detail

/// What the library reads of a fatbin and its entries besides their interfaces.
struct FATLINK_PRIVATE entry_access {
  /// `entry`: a PTX or elf entry of `file`. Lives as long as any copy of `file`.
  /// @throws format_error as fatbin::interface.
  static detail::entry_facts const& facts_of(fatbin const& file, fatbin_entry const& entry);
  /// The sidecar that fatbin::read found; null for fatbins that were read in another way.
  static detail::sidecar_ptr const& sidecar_of(fatbin const& file);
};

/// The declarations read of all modules of an input, which are limited together. Threads: safe.
struct FATLINK_PRIVATE declaration_count {
  std::atomic<std::size_t> value{0};
};

}  // namespace fatlink
