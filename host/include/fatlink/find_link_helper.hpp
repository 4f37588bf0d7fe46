// SPDX-License-Identifier: Apache-2.0
// Finds the link helper, the program fatlink-linkd, in which nvJitLink runs by default.
// Threads: safe.
#pragma once

#include <filesystem>

#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// Finds the fatlink-linkd that links run in. If $FATLINK_LINKD is set, it is that file. Otherwise
/// it is the first of these files that is executable:
/// - the one installed with this library or with the running program
/// - the one that set_default_link_helper named
/// - those in /usr/local/libexec, /usr/libexec, /usr/local/lib/fatlink and /usr/lib/fatlink
/// @throws unavailable_error none is executable; the error lists the files that were tried.
std::filesystem::path find_link_helper();

/// Sets the helper for a program that is linked statically with this library and installed in
/// another place than fatlink. The cache layers of the helper's installation are then used as well
/// (default_cache_settings). The last call wins. Programs that link to the CMake target
/// fatlink::static need not call this: the package defines FATLINK_LINK_HELPER for them, the
/// absolute path of the helper that was installed with it.
void set_default_link_helper(std::filesystem::path file);

#ifdef FATLINK_LINK_HELPER
/// Calls set_default_link_helper before `main`.
inline bool const link_helper_is_stated = (set_default_link_helper(FATLINK_LINK_HELPER), true);
#endif

}  // namespace fatlink
