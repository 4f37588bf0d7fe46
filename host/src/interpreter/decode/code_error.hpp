// SPDX-License-Identifier: Apache-2.0
// The exception of the reference device.
#pragma once

#include <stdexcept>
#include <string>

namespace fatlink::interpreter {

enum class error_kind {
  syntax,         ///< text that is not PTX
  refused,        ///< PTX that exceeds a limit of this device
  invalid,        ///< PTX that no device executes: wrong operand types or counts
  unresolved,     ///< linking: a symbol that no module defines
  duplicate,      ///< linking: a symbol that two modules define
  prototype,      ///< a declaration, call or second definition has other types than the definition
  no_kernel,      ///< no module has a kernel of this name
  launch,         ///< the grid, block or arguments cannot be launched
  memory,         ///< the host is out of memory
  address,        ///< an access out of bounds, misaligned, to null, or a write to constant memory
  endless,        ///< the instruction budget is exhausted
  deadlock,       ///< threads wait for threads that never arrive
  trap,           ///< trap, or a failed assert
  race,           ///< two threads wrote the same address
  uninitialized,  ///< a read of shared memory that nothing has written
};

/// "a.ptx:9", the line of a PTX module; "line 9 of the PTX of half.cu" of one that was compiled
/// from a source, whose own lines are others.
inline std::string line_in_ptx(std::string const& source, unsigned line)
{
  for (auto const* const ending : {".cu", ".ll", ".bc"})
    if (source.ends_with(ending))
      return "line " + std::to_string(line) + " of the PTX of " + source;
  return source + ":" + std::to_string(line);
}

/// `what()` is `message` on one line, with only characters that can be printed. `source` and `line`
/// locate the error in a PTX module, if it is in one. `location` is the line of the source code,
/// "wild.cu:7", if the compiler recorded it. `hint` is what to change; empty where the kind of the
/// error tells it.
class code_error : public std::runtime_error {
 public:
  code_error(error_kind kind, std::string const& message, std::string source = {},
             unsigned line = 0, std::string location = {}, std::string hint = {});
  [[nodiscard]] error_kind kind() const noexcept { return kind_; }
  [[nodiscard]] std::string const& source() const noexcept { return source_; }
  [[nodiscard]] unsigned line() const noexcept { return line_; }
  [[nodiscard]] std::string const& location() const noexcept { return location_; }
  [[nodiscard]] std::string const& hint() const noexcept { return hint_; }

 private:
  error_kind kind_;
  std::string source_;
  unsigned line_;
  std::string location_;
  std::string hint_;
};

}  // namespace fatlink::interpreter
