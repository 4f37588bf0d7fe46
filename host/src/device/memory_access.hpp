// SPDX-License-Identifier: Apache-2.0
// Where the host keeps memory of the reference device, for copies by the host program.
// Units: bytes. Threads: safe.
#pragma once

#include <cstddef>
#include <string>

#include "fatlink/device_backend.hpp"
#include "interpreter/execution/memory.hpp"

namespace fatlink::detail {

class memory_access {
 public:
  /// Both outlive this object. `device`: its name, for messages.
  memory_access(interpreter::memory const& memory, std::string const& device)
      : memory_(memory), device_(device)
  {
  }

  /// Where `bytes` bytes at `address` are; `action` ("copying to") is for the message.
  /// @throws device_error (illegal-address) they are not in one allocation.
  [[nodiscard]] std::byte* readable(device_address address, std::size_t bytes,
                                    char const* action) const;
  /// The same, for bytes that are written: constant variables may be, memory that is mapped as
  /// read-only must not be.
  [[nodiscard]] std::byte* writable(device_address address, std::size_t bytes,
                                    char const* action) const;

 private:
  [[noreturn]] void fail(char const* action, device_address address, std::size_t bytes,
                         std::string const& place, std::string hint) const;

  interpreter::memory const& memory_;
  std::string const& device_;
};

}  // namespace fatlink::detail
