// SPDX-License-Identifier: Apache-2.0
// Locks between processes (and threads): a range of one byte of the folder's file `lock` each, held
// by an open file description (F_OFD_SETLK, fcntl(2)). The system lets go of it the moment its
// owner ends, however it ends, so none is ever stuck and there is nothing to clean up; network file
// systems that lock at all know them.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "cache/folder.hpp"

namespace fatlink::cache {

class lock {
 public:
  /// The lock of the entry `name` (64 hexadecimal digits), if nobody holds it.
  /// @throws fault locks do not work there.
  static std::optional<lock> try_entry(folder const& in, std::string const& name);
  /// The lock of the ledger, waiting for it up to `patience`.
  static std::optional<lock> ledger(folder const& in, std::chrono::milliseconds patience);

 private:
  explicit lock(std::unique_ptr<detail::descriptor> held) : held_(std::move(held)) {}
  static std::optional<lock> try_byte(folder const& in, long long byte);

  std::unique_ptr<detail::descriptor> held_;
};

}  // namespace fatlink::cache
