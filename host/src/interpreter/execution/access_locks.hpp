// SPDX-License-Identifier: Apache-2.0
// Mutexes that make accesses atomic that have more bytes than the host accesses at once. They are
// free in a child process of fork, which has none of the threads that held them. Threads: safe.
#pragma once

#include <cstddef>
#include <mutex>

namespace fatlink::interpreter {

/// The mutex of the 32 bytes that hold `place`; to be held only during the access.
std::mutex& access_lock(std::byte const* place) noexcept;

}  // namespace fatlink::interpreter
