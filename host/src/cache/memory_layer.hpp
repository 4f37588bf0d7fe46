// SPDX-License-Identifier: Apache-2.0
// The links that this process keeps in memory. Each key is linked by one thread at a time; other
// threads that need it wait for the result. Failures are not kept. When the links exceed the
// limit, those used least recently are removed.
// Threads: safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "fatlink/cache.hpp"
#include "util/process/fork_guard.hpp"

namespace fatlink::cache {

class memory_layer {
 public:
  using value = std::shared_ptr<cached_link const>;
  using clock = std::chrono::steady_clock;

  /// `limit`: bytes of all links together. The link used last is kept even if it is larger.
  explicit memory_layer(std::uint64_t limit) : limit_(limit) {}

  struct product {
    value link = {};
    bool keep = true;  ///< false: goes only to the caller that made it
  };
  struct result {
    value link = {};
    bool is_hit = false;  ///< another call made the link
  };
  /// The link of the key `parts`; if there is none, calls `make` and keeps its product. Callers
  /// that wait for another thread's `make` call their own if that one throws, is not to be kept, or
  /// has not ended at `wait_end`; what they make then is not kept.
  /// @throws what `make` throws.
  result find_or_make(std::string const& parts, std::function<product()> const& make,
                      clock::time_point wait_end = clock::time_point::max());

 private:
  struct slot {
    std::shared_future<value> link = {};
    std::uint64_t bytes = 0;                                ///< 0: a thread is making the link
    std::list<std::string const*>::iterator position = {};  ///< in used_; only if bytes is not 0
  };
  /// The link of `parts`, finished or being made. Empty if there is none: then the caller must make
  /// it and fulfil `promise`.
  std::optional<std::shared_future<value>> find_or_claim(std::string const& parts,
                                                         std::promise<value>& promise);
  void keep(std::string const& parts, value const& link);
  void forget(std::string const& parts);
  void shrink();

  std::uint64_t limit_;
  std::mutex mutex_;
  std::unordered_map<std::string, slot> slots_;
  std::list<std::string const*>
      used_;  ///< keys of the finished slots, the most recently used first
  std::uint64_t bytes_ = 0;
  /// Forgets unfinished links in a forked child: the threads that make them are the parent's.
  detail::fork_guard fork_guard_{
      detail::fork_order::memory_layer, mutex_,
      [this] { std::erase_if(slots_, [](auto const& named) { return named.second.bytes == 0; }); }};
};

}  // namespace fatlink::cache
