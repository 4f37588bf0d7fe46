// SPDX-License-Identifier: Apache-2.0
// A pipe on which the guardian reports once which layers of its confinement the kernel refused. The
// hello of the tool process states them.
#pragma once

#include <optional>

#include "sandbox.hpp"

namespace fatlink {

class confinement_pipe {
 public:
  /// Opens the pipe, before the fork. If that fails, receive() returns nothing.
  confinement_pipe() noexcept;

  /// In the guardian. Allocates no memory and closes nothing, which its filter may refuse.
  void send(guardian_errors const& errors) const noexcept;

  /// In the tool process, once: waits for the report and closes the pipe. Empty if there is
  /// none.
  [[nodiscard]] std::optional<guardian_errors> receive() noexcept;

 private:
  int reader_ = -1;
  int writer_ = -1;
};

}  // namespace fatlink
