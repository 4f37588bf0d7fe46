// SPDX-License-Identifier: Apache-2.0
// The numbers that a name of C++ means. Threads: no shared state.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/element_type.hpp"

namespace fatlink::detail {

/// float32 for "float", as the demangler names types; nothing for a type that is no such number.
std::optional<scalar_kind> number_of_cpp(std::string_view type) noexcept;

/// The name in `known` that `word` stands for, for "did you mean": "float32" for the C++ type
/// "float", otherwise the most similar one, as nearest().
std::string intended_name(std::vector<std::string> const& known, std::string_view word);

}  // namespace fatlink::detail
