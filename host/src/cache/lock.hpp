// SPDX-License-Identifier: Apache-2.0
// Locks between processes (and threads): a range of one byte of the folder's file `lock` each, held
// by an open file description (F_OFD_SETLK, fcntl(2)). The system lets go of it the moment its
// owner ends, however it ends, so there is nothing to clean up; network file systems that lock at
// all know them. A host that forks while it holds one, and dies, leaves it with its child: nobody
// waits for a lock longer than they were told to. Where locks fail although nobody holds them
// (EAGAIN, EACCES, EINTR, ENOLCK), each attempt costs at most 13 ms, and a link makes three.
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
  /// Lets go for every copy of the descriptor, a forked child's too.
  class held_byte {
   public:
    held_byte(std::unique_ptr<detail::descriptor> file, long long byte)
        : file_(std::move(file)), byte_(byte)
    {
    }
    ~held_byte();
    held_byte(held_byte const&) = delete;
    held_byte& operator=(held_byte const&) = delete;

   private:
    std::unique_ptr<detail::descriptor> file_;
    long long byte_;
  };
  explicit lock(std::unique_ptr<held_byte> held) : held_(std::move(held)) {}
  static std::optional<lock> try_byte(folder const& in, long long byte);

  std::unique_ptr<held_byte> held_;
};

}  // namespace fatlink::cache
