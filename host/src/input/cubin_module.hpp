// SPDX-License-Identifier: Apache-2.0
// A cubin as the entry of a fatbin. Threads: no shared state.
#pragma once

#include <string_view>

#include "fatlink/bytes.hpp"
#include "fatlink/fatbin.hpp"

namespace fatlink::detail {

/// The elf entry of the cubin `bytes`, which it points into: relocatable, or a whole program (which
/// preflight refuses). `name` is the file's, for messages.
/// @throws format_error (stage input) corrupt-cubin: damaged, with the byte offset; or no note
/// states
///   whether its target has a suffix.
fatbin_entry cubin_entry(bytes_view bytes, std::string_view name);

}  // namespace fatlink::detail
