// SPDX-License-Identifier: Apache-2.0
// Which ranks need the same link. Threads: no shared state.
#pragma once

#include "fatlink/bytes.hpp"
#include "fatlink/link_once.hpp"

namespace fatlink::detail {

/// The digest of all that the image and the checks of a link depend on, except for the identity of
/// nvJitLink, which only the rank that links looks up. Opens neither nvJitLink nor a helper.
/// @throws as link_key, and as linker::link for arguments that no link accepts.
digest256 group_key(linker const& linker, link_task const& task);

}  // namespace fatlink::detail
