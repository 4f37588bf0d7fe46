// SPDX-License-Identifier: Apache-2.0
// Links in this process's memory: one link per key at a time, those that ask meanwhile wait for it;
// failures are not kept. The ones used longest ago go when there is too much. Threads: safe.
#pragma once

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

  explicit memory_layer(std::uint64_t limit) : limit_(limit) {}

  /// The link of `parts`, or what `make` makes; `was_there` is false for the caller whose `make`
  /// it was. Where that fails, or is not to be kept, those that waited for it make their own.
  /// @throws what `make` throws.
  struct made {
    value link;
    bool keep = true;
  };
  value find_or_make(std::string const& parts, std::function<made()> const& make, bool& was_there);

 private:
  struct slot {
    std::shared_future<value> link;
    std::uint64_t bytes = 0;  ///< 0: on its way
    std::list<std::string const*>::iterator used = {};
  };
  /// The link, there or on its way; nothing where it is the caller's now to make, for `promise`.
  std::optional<std::shared_future<value>> find_or_claim(std::string const& parts,
                                                         std::promise<value>& promise);
  void keep(std::string const& parts, value const& link);
  void forget(std::string const& parts);
  void shrink();

  std::uint64_t limit_;
  std::mutex mutex_;
  std::unordered_map<std::string, slot> slots_;
  std::list<std::string const*> used_;  ///< names of finished slots, the last used first
  std::uint64_t bytes_ = 0;
  /// In a child that was forked nobody makes the links that are on their way.
  detail::fork_guard fork_guard_{
      detail::fork_order::memory_layer, mutex_,
      [this] { std::erase_if(slots_, [](auto const& named) { return named.second.bytes == 0; }); }};
};

}  // namespace fatlink::cache
