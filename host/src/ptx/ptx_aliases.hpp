// SPDX-License-Identifier: Apache-2.0
// Names that the interface of a module has twice: aliases, and what it both declares and defines.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "fatlink/ptx_interface.hpp"

namespace fatlink::detail {

/// `.alias name, target;`. The names are views of the PTX.
struct function_alias {
  std::string_view name = {};
  std::string_view target = {};
};

/// Adds a definition for each alias of a function in `definitions`. Before each it calls `count`
/// with the number of declarations that it adds.
void define_aliases(std::vector<function_alias> const& aliases,
                    std::vector<ptx_function>& definitions,
                    std::function<void(std::size_t)> const& count);

/// Removes the .extern declarations of what the module itself defines.
void drop_defined(ptx_interface& interface);

}  // namespace fatlink::detail
