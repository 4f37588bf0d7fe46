// SPDX-License-Identifier: Apache-2.0
// Bare PTX and raw LTO-IR as entries of a fatbin. Threads: no shared state.
#pragma once

#include "fatlink/bytes.hpp"
#include "fatlink/fatbin.hpp"
#include "input/ltoir.hpp"
#include "input/ptx_text.hpp"

namespace fatlink::detail {

/// The entry of `ptx`, whose text it points into. Its options text is empty.
fatbin_entry ptx_entry(ptx_text const& ptx);

/// The entry of the raw LTO-IR `bytes`, which it points into. Its options text is empty: raw LTO-IR
/// states no float flags.
fatbin_entry ltoir_entry(bytes_view bytes, ltoir_header const& header);

}  // namespace fatlink::detail
