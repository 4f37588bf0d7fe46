// SPDX-License-Identifier: Apache-2.0
// nvJitLink as one of the vendor's libraries. Threads: safe.
#pragma once

#include <optional>
#include <string>

#include "toolkit/library_identity.hpp"

namespace fatlink::detail {

/// How nvJitLink is searched and recognized.
vendor_library const& nvjitlink_library();

/// library_identity() of nvJitLink.
inline std::optional<std::string> nvjitlink_identity(std::string const& path)
{
  return library_identity(path, nvjitlink_library());
}

}  // namespace fatlink::detail
