// SPDX-License-Identifier: Apache-2.0
// Contracts that differ in the size of their elements only: combine_4 and combine_8. The size is
// the number at the end of the name. Threads: no shared state.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fatlink/ident.hpp"

namespace fatlink::detail {

/// "combine_8" is "combine" and "8".
struct sized_name {
  std::string_view base = {};
  std::string_view bytes = {};
};

/// Nothing for a name without a size at its end. The result points into `name`.
std::optional<sized_name> split_size(std::string_view name);

/// Whether the contracts are for elements of different sizes, and else the same by name.
bool differ_in_size(std::string_view a, std::string_view b);

/// The library's name for elements of the size of `contract`: "reduce_8" of "reduce_4.fatbin" and
/// "combine_8". Empty where the name of its file states no size.
std::string library_of_size(std::string const& file, std::string_view contract);

/// "8 bytes (best)", the elements of a contract with a size; "8 bytes" where no type is recorded.
std::string describe_elements(ident const& stated);

}  // namespace fatlink::detail
