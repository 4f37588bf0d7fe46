// SPDX-License-Identifier: Apache-2.0
// Locks between processes and threads: each is a range of one byte in the file `lock` of the cache
// folder, held by an open file description (F_OFD_SETLK, fcntl(2)). The kernel releases it when
// its owner ends, for any reason, so there are no stale locks to clean up; network file systems
// that support locks support these. If a host process forks while it holds a lock, and then dies,
// the child still holds it; therefore every wait for a lock has a time limit. Where locking fails
// although no other owner holds the lock (EAGAIN, EACCES, EINTR, ENOLCK), each attempt costs at
// most 13 ms; a link makes at most three attempts.
// Threads: each object belongs to one thread.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "cache/folder.hpp"

namespace fatlink::cache {

/// A lock that is held until the object is destroyed.
class lock {
 public:
  /// The lock of the entry `name` (64 hexadecimal digits); empty if another owner holds it.
  /// @throws fault locks do not work in this folder.
  static std::optional<lock> try_entry(folder const& cache_folder, std::string const& name);
  /// The lock of the ledger; empty if another owner holds it for longer than `wait_limit`.
  /// @throws fault locks do not work in this folder.
  static std::optional<lock> ledger(folder const& cache_folder,
                                    std::chrono::milliseconds wait_limit);

 private:
  /// A locked byte. Its destructor releases the lock for every copy of the descriptor, including
  /// the one of a forked child.
  class locked_byte {
   public:
    locked_byte(std::unique_ptr<detail::descriptor> file, long long offset)
        : file_(std::move(file)), offset_(offset)
    {
    }
    ~locked_byte();
    locked_byte(locked_byte const&) = delete;
    locked_byte& operator=(locked_byte const&) = delete;

   private:
    std::unique_ptr<detail::descriptor> file_;
    long long offset_;
  };
  explicit lock(std::unique_ptr<locked_byte> byte) : byte_(std::move(byte)) {}
  static std::optional<lock> try_byte(folder const& cache_folder, long long offset);

  std::unique_ptr<locked_byte> byte_;
};

}  // namespace fatlink::cache
