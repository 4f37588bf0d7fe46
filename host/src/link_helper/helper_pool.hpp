// SPDX-License-Identifier: Apache-2.0
// The process's link helpers. One that survived a link waits for the next; each linker keeps the
// pool, and its idle helpers end with the last linker, after a minute without work
// (fatlink-linkd ends itself), and where there are more than a few. A helper that linked inputs
// without digest or contract serves no other link: such inputs may have taken it over.
// A forked child starts helpers of its own and never touches those of its parent.
// Threads: safe; each lease has a helper of its own.
#pragma once

#include <memory>
#include <string>

#include "link_helper/link_helper.hpp"

namespace fatlink::detail {

class helper_pool {
 public:
  /// The process's pool: the same object as long as somebody keeps it.
  static std::shared_ptr<helper_pool> shared();
  ~helper_pool();
  helper_pool(helper_pool const&) = delete;
  helper_pool& operator=(helper_pool const&) = delete;

 private:
  helper_pool() = default;
};

/// Ends the idle helpers, so that the next ones get this process's environment.
void end_idle_helpers();

/// How many helpers wait for work.
std::size_t idle_helper_count();

enum class helper_reuse { shared, fresh };

/// A helper for as long as this lives.
class helper_lease {
 public:
  /// With an `identity` (see nvjitlink_file), idle helpers that opened another nvJitLink are ended.
  /// helper_reuse::fresh: a new helper, that ends with the lease. Waits for another lease's end
  /// where the process has as many helpers as it may (twice its cores, at least four).
  /// @throws as link_helper::start.
  helper_lease(helper_settings const& settings, std::string const& identity, helper_reuse reuse,
               time_limit const& limit);
  ~helper_lease();
  helper_lease(helper_lease const&) = delete;
  helper_lease& operator=(helper_lease const&) = delete;
  link_helper* operator->() const noexcept { return helper_.get(); }
  /// As link_helper::link; once with a new helper, where this one ended by itself.
  link_product link(link_request const& request, time_limit const& limit);

 private:
  helper_settings settings_;
  helper_reuse reuse_;
  std::unique_ptr<link_helper> helper_;
};

}  // namespace fatlink::detail
