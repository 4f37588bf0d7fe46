// SPDX-License-Identifier: Apache-2.0
// Links PTX modules by name, with a linker's rules: a local symbol is its module's own; a strong
// definition beats weak ones, of which the first wins; two strong ones are an error, as are a
// symbol that is used and nobody defines, and a declaration or another definition, weak or strong,
// that differs from the definition chosen.
// Source: PTX ISA 9.0, "Linking Directives".
#pragma once

#include <map>
#include <string>
#include <vector>

#include "interpreter/decode/failure.hpp"
#include "ptx/syntax.hpp"

namespace fatlink::interpreter {

namespace syntax = ptx::syntax;

enum class builtin { printf, assert_fail, heap };

/// What a name stands for in a module.
struct entity {
  enum class kind { function, variable, dynamic_shared, builtin };
  entity::kind is = kind::function;
  unsigned index = 0;  ///< into linked::functions, linked::variables, or a interpreter::builtin
};

template <typename Syntax>
struct defined {
  unsigned module;  ///< index
  Syntax const* what;
};

/// Modules and what their names mean. Movable, not copyable: `defined::what` points into it.
struct linked_modules {
  std::vector<syntax::module> modules;
  std::vector<defined<syntax::function>> functions;  ///< with bodies
  std::vector<defined<syntax::variable>> variables;  ///< global, const and shared
  std::vector<std::map<std::string, entity>> names;  ///< for each module
  /// For each function, where it is variadic: bytes of the longest argument list of all calls.
  std::vector<std::uint64_t> variadic_bytes;

  linked_modules() = default;
  linked_modules(linked_modules&&) = default;
  linked_modules& operator=(linked_modules&&) = default;
};

/// @throws failure (duplicate, prototype, unresolved, syntax) naming the modules.
linked_modules link(std::vector<syntax::module> modules);

}  // namespace fatlink::interpreter
