// SPDX-License-Identifier: Apache-2.0
// The helpers that one compile uses, each leased when it is first needed, one at a time: a compile
// that held one while it waits for another could wait forever for compiles that do the same. A
// helper that received the source serves no other compile. Threads: one at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "compiler/compiler_state.hpp"
#include "link_helper/helper_pool.hpp"

namespace fatlink::detail {

class compiler_helpers {
 public:
  /// `name`: of the source, for messages. `state` must outlive it. The time limit counts from now.
  /// The wait for a helper while other compiles of this process hold all, and the wait in
  /// find_or_make for the same compile, do not count; each has the same limit of its own.
  compiler_helpers(compiler_state& state, std::string name);

  /// Compiles the source in the helper with `tool`. `files`: what the compiler may read.
  /// @throws compile_error, unavailable_error as compiler::compile. @throws as `files`.
  compile_reply compile(helper_tool tool, program const& subject, file_source const& files = {});
  /// Compiles what cannot take a helper over: the header of an installed contract, which is as
  /// trusted as fatlink. The helper may serve others afterwards. @throws as compile.
  compile_reply compile_trusted(helper_tool tool, program const& subject, file_source const& files);
  /// Gives the helper back, if there is one. Call it before you wait for another compile: that one
  /// may wait for a helper.
  void release() noexcept { helper_.reset(); }
  /// Wall time of starting helpers so far, milliseconds.
  [[nodiscard]] double open_ms() const noexcept { return open_ms_; }
  /// The hello of the helper with `tool`, which runs.
  helper_hello const& hello(helper_tool tool) { return lease(tool)->hello(); }
  /// What the cache has for `key`, otherwise the product of `make`. Waits while another thread or
  /// process makes it, at most as long as a compile may take; the wait and the lookup do not count
  /// in the time limit, `make` does. There is a cache.
  link_cache::result find_or_make(cache_key const& key,
                                  std::function<link_cache::product()> const& make);
  /// For steps of the host, the headers.
  /// @throws compile_error (compile_timeout) the time limit has passed.
  void check_time() const;
  /// Unpacks the headers that NVRTC brings to `folder`, unless they are there.
  /// @throws unavailable_error there is no helper or no NVRTC, or it cannot write them.
  void unpack_headers(std::string const& folder);

 private:
  helper_lease& lease(helper_tool tool);
  std::unique_ptr<helper_lease> open(helper_tool tool);
  compile_reply compile_in(helper_lease& helper, program const& subject, file_source const& files);
  [[nodiscard]] helper_settings settings_for(helper_tool tool) const;

  compiler_state& state_;
  std::string name_;
  time_limit limit_;
  std::unique_ptr<helper_lease> helper_;
  helper_tool tool_ = helper_tool::nvrtc;  ///< of helper_
  double open_ms_ = 0;
};

}  // namespace fatlink::detail
