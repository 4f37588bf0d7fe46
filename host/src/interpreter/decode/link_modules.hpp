// SPDX-License-Identifier: Apache-2.0
// Links PTX modules by name, with a linker's rules. A local symbol is visible only in its module. A
// strong definition overrides weak ones; without a strong one the first weak one is chosen. Errors:
// two strong definitions; a symbol that is used but not defined; a function whose declaration, or
// another definition of it, has other types than the chosen definition.
// Source: PTX ISA 9.0, "Linking Directives".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "interpreter/decode/code_error.hpp"
#include "ptx/syntax.hpp"

namespace fatlink::interpreter {

namespace syntax = ptx::syntax;

enum class builtin { printf, assert_fail, malloc, free };

enum class entity_kind { function, variable, dynamic_shared, builtin };

/// What a name stands for in a module.
struct entity {
  entity_kind kind = entity_kind::function;
  unsigned index = 0;  ///< in linked_modules::functions or ::variables, or a value of builtin
};

template <typename Syntax>
struct defined {
  unsigned module = 0;  ///< index of the module
  Syntax const* syntax = nullptr;
};

/// Modules and what their names mean. Movable, not copyable: `defined::syntax` points into
/// `modules`.
struct linked_modules {
  std::vector<syntax::module> modules;
  std::vector<defined<syntax::function>> functions;  ///< with bodies
  std::vector<defined<syntax::variable>> variables;  ///< global, const and shared
  std::vector<std::map<std::string, entity>> names;  ///< for each module
  /// For each function, if it is variadic: bytes of the longest variable argument list of all
  /// calls.
  std::vector<std::uint64_t> variadic_bytes;

  linked_modules() = default;
  linked_modules(linked_modules&&) = default;
  linked_modules& operator=(linked_modules&&) = default;
};

/// @throws code_error (duplicate, prototype, unresolved, syntax) naming the modules.
linked_modules link(std::vector<syntax::module> modules);

// What a kernel reaches: the functions that it calls or takes the address of, and theirs, and the
// shared memory that these declare. A block has the shared variables of its kernel, not those of
// the whole module.

/// The indices of `roots` and of all functions that they reach, ascending.
std::vector<unsigned> reachable_functions(linked_modules const& modules,
                                          std::vector<unsigned> const& roots);

/// Offsets in the shared memory of a block. Units: bytes.
struct shared_layout {
  std::map<unsigned, std::uint64_t> variables;  ///< by index into linked_modules::variables
  /// Static variables of functions, by function and index in function::variables.
  std::map<std::pair<unsigned, unsigned>, std::uint64_t> inner;
  std::uint64_t bytes = 0;  ///< a multiple of 128: dynamic shared memory begins there
};

/// Lays out the shared variables that `functions` declare or use.
/// @throws code_error (invalid) more than 48 KiB, naming the first variable beyond them.
shared_layout lay_out_shared(linked_modules const& modules, std::vector<unsigned> const& functions);

}  // namespace fatlink::interpreter
