// SPDX-License-Identifier: Apache-2.0
// The helpers of this process. After a link, a helper waits for the next one. Idle helpers end
// with the last linker or compiler, after a minute without work (fatlink-linkd ends itself), and
// when there are more than four. A helper that linked inputs without digest or contract, or
// compiled a source, serves no other: such inputs may have taken it over. A forked child starts its
// own helpers and never uses its parent's.
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

/// One of the helpers that this process may have at once: twice the number of cores, at least four.
class helper_place {
 public:
  /// Waits for the end of another lease if there is none. @throws unavailable_error (ETIMEDOUT) no
  ///   lease ended within the time limit.
  helper_place(helper_tool tool, time_limit const& limit);
  /// A place beside one that the caller has, for work that it can do itself; null where the helpers
  /// in use leave no core free. Never waits.
  static std::unique_ptr<helper_place> beside_another();
  ~helper_place();
  helper_place(helper_place const&) = delete;
  helper_place& operator=(helper_place const&) = delete;

 private:
  helper_place() = default;
};

/// Exclusive use of a helper, until the lease is destroyed.
class helper_lease {
 public:
  /// Takes an idle helper or starts one. `identity` (library_file::identity), if not empty: ends
  /// idle helpers of the tool that opened another file. helper_reuse::fresh: a new helper, which
  /// ends with the lease. Waits for a helper_place, within the time limit, unless `place` is one.
  /// @throws unavailable_error as link_helper::start and helper_place.
  helper_lease(helper_settings const& settings, std::string const& identity, helper_reuse reuse,
               time_limit const& limit, std::shared_ptr<helper_place> place = nullptr);
  ~helper_lease();
  helper_lease(helper_lease const&) = delete;
  helper_lease& operator=(helper_lease const&) = delete;
  link_helper* operator->() const noexcept { return helper_.get(); }
  /// The helper serves no other lease: what it is about to receive may take it over. From the
  /// second such helper of the process on, the end of the lease starts the next one, which is then
  /// ready for a process that compiles now and then.
  void end_after_this() noexcept;
  /// As link_helper::link. If the helper ended itself, tries once again with a new one.
  link_product link(link_request const& request, time_limit const& limit);
  /// As link_helper::compile. If the helper ended itself, tries once again with a new one.
  compile_reply compile(program const& request, time_limit const& limit, file_source const& files);

 private:
  /// Calls `work`, once again with a new helper if the first ended itself.
  template <typename Work>
  auto call(Work const& work, time_limit const& limit);

  /// An idle helper that serves `identity`, or null.
  std::unique_ptr<link_helper> take_idle(std::string const& identity, time_limit const& limit);

  void start_next() noexcept;

  std::shared_ptr<helper_place> place_;  ///< until helper_ has ended
  helper_settings settings_;
  helper_reuse reuse_;
  bool starts_next_ = false;
  std::unique_ptr<link_helper> helper_;
};

}  // namespace fatlink::detail
