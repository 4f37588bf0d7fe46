// SPDX-License-Identifier: Apache-2.0
// The link helpers of this process. After a link, a helper waits for the next one. Idle helpers end
// with the last linker, after a minute without work (fatlink-linkd ends itself), and when there are
// more than four. A helper that linked inputs without digest or contract serves no other link: such
// inputs may have taken it over. A forked child starts its own helpers and never uses its parent's.
// Threads: safe; each lease has its own helper.
#pragma once

#include <memory>
#include <string>

#include "link_helper/link_helper.hpp"

namespace fatlink::detail {

class helper_pool {
 public:
  /// The pool of this process: the same object while anyone holds it.
  static std::shared_ptr<helper_pool> shared();
  ~helper_pool();
  helper_pool(helper_pool const&) = delete;
  helper_pool& operator=(helper_pool const&) = delete;

 private:
  helper_pool() = default;
};

/// Ends the idle helpers, so that the next helpers receive the present environment.
void end_idle_helpers();

/// The number of idle helpers.
std::size_t idle_helper_count();

enum class helper_reuse { shared, fresh };

/// Exclusive use of a helper, until the lease is destroyed.
class helper_lease {
 public:
  /// Takes an idle helper or starts one. `identity` (library_file::identity), if not empty: ends
  /// idle helpers of the tool that opened another file. helper_reuse::fresh: a new helper, which
  /// ends with the lease. If the process has as many helpers as it may (twice the number of cores,
  /// at least four), waits for the end of another lease.
  /// @throws unavailable_error as link_helper::start, or no lease ended within the time limit.
  helper_lease(helper_settings const& settings, std::string const& identity, helper_reuse reuse,
               time_limit const& limit);
  ~helper_lease();
  helper_lease(helper_lease const&) = delete;
  helper_lease& operator=(helper_lease const&) = delete;
  link_helper* operator->() const noexcept { return helper_.get(); }
  /// As link_helper::link. If the helper ended itself, tries once again with a new one.
  link_product link(link_request const& request, time_limit const& limit);
  /// As link_helper::compile. If the helper ended itself, tries once again with a new one.
  compile_reply compile(program const& request, time_limit const& limit);

 private:
  /// Calls `work`, once again with a new helper if the first ended itself.
  template <typename Work>
  auto call(Work const& work, time_limit const& limit);

  helper_settings settings_;
  helper_reuse reuse_;
  std::unique_ptr<link_helper> helper_;
};

}  // namespace fatlink::detail
