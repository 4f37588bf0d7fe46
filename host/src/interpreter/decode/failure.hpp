// SPDX-License-Identifier: Apache-2.0
// The one exception of the reference device. Knows nothing of the rest of fatlink: this folder
// needs the standard library alone and can be lifted out.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace fatlink::interpreter {

enum class fault {
  syntax,      ///< text that is no PTX
  refused,     ///< PTX that this device does not execute: one of its limits
  invalid,     ///< PTX that no device executes: operands of wrong types or counts
  unresolved,  ///< linking: a symbol nobody defines
  duplicate,   ///< linking: a symbol two modules define
  prototype,   ///< declared, called or defined again with other types than defined
  no_kernel,   ///< a kernel asked for by a name no module has
  launch,      ///< a grid, block or argument list that cannot be launched
  memory,      ///< the host has not the memory
  address,     ///< out of bounds, misaligned, null, or written although constant
  endless,     ///< the instruction budget is spent
  deadlock,    ///< threads wait for threads that never come
  trap,        ///< trap, or a failed device assert
  race,        ///< two threads wrote one address
};

/// `what()` is one line. `source` and `line` are the PTX module's, where the fault is in one;
/// `location` is the line of the code that was compiled to it, "wild.cu:7", where that is known.
class failure : public std::runtime_error {
 public:
  failure(fault kind, std::string const& message, std::string source = {}, unsigned line = 0,
          std::string location = {})
      : std::runtime_error(message),
        kind_(kind),
        source_(std::move(source)),
        line_(line),
        location_(std::move(location))
  {
  }
  [[nodiscard]] fault kind() const noexcept { return kind_; }
  [[nodiscard]] std::string const& source() const noexcept { return source_; }
  [[nodiscard]] unsigned line() const noexcept { return line_; }
  [[nodiscard]] std::string const& location() const noexcept { return location_; }

 private:
  fault kind_;
  std::string source_;
  unsigned line_;
  std::string location_;
};

}  // namespace fatlink::interpreter
