// SPDX-License-Identifier: Apache-2.0
// Names as the Itanium C++ ABI mangles them. Threads: no shared state.
#pragma once

#include <string>

namespace fatlink::detail {

/// "float (float)" for "FffE", "void f<int>()" for "_Z1fIiEvv"; empty if `name` is not mangled, or
/// is above a limit of util/limits.hpp: names are untrusted, and references to earlier parts may
/// double the text many times.
std::string demangle(std::string const& name);

}  // namespace fatlink::detail
