// SPDX-License-Identifier: Apache-2.0
// The names of the files that a cache folder is written through:
// <temporary> ::= <name> "." 16 hexadecimal digits, random ".tmp"
#pragma once

#include <optional>
#include <string>

namespace fatlink::cache {

/// A new temporary name for the file `name`.
std::string temporary_file_of(std::string const& name);

/// The name that the temporary file `file` is renamed to; empty if `file` is not a temporary name.
std::optional<std::string> target_of_temporary_file(std::string const& file);

}  // namespace fatlink::cache
