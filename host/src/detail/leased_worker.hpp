// SPDX-License-Identifier: Apache-2.0
// Link helpers that wait between links: one that survived a link serves the next, one that died is
// replaced.
// Threads: each lease has a helper of its own.
#pragma once

#include <memory>
#include <string>

#include "detail/link_worker.hpp"

namespace fatlink::detail {

/// Ends the helpers that wait for work, so that the next ones see this process's environment.
void end_idle_workers();

/// A helper for as long as this lives: an idle one of this process, or a new one. Afterwards it
/// waits for the next, if it is still alive.
class leased_worker {
 public:
  /// @throws as link_worker::start.
  /// With an `identity` (see nvjitlink_file), idle ones that opened another nvJitLink are ended.
  explicit leased_worker(std::string const& library = {}, std::string const& identity = {});
  ~leased_worker();
  leased_worker(leased_worker const&) = delete;
  leased_worker& operator=(leased_worker const&) = delete;
  link_worker* operator->() const noexcept { return worker_.get(); }

 private:
  std::unique_ptr<link_worker> worker_;
};

}  // namespace fatlink::detail
