// SPDX-License-Identifier: Apache-2.0
// The identity of a compiler's file from the cache, so that a compile that the cache holds opens no
// compiler. The key is what stat states of the file: device, inode, size, and the times (ns) of the
// last changes of its content and of its status; a program can set the first of them, not the
// second. A file that changed in the last two seconds is read each time: it could change again
// within the resolution of these times. Threads: safe.
#pragma once

#include <memory>

#include "fatlink/cache.hpp"
#include "toolkit/vendor_library.hpp"

namespace fatlink::detail {

/// Reads identities as library_identity does, from `cache` where it holds them; null: always from
/// the file.
identity_reader remembering_reader(std::shared_ptr<link_cache> const& cache);

}  // namespace fatlink::detail
