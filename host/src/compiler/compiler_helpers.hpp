// SPDX-License-Identifier: Apache-2.0
// The helpers that one compile uses, each leased when it is first needed. Threads: one at a time.
#pragma once

#include <memory>
#include <string>

#include "compiler/compiler_state.hpp"
#include "link_helper/helper_pool.hpp"

namespace fatlink::detail {

class compiler_helpers {
 public:
  /// `name`: of the source, for messages. `state` must outlive it. The time limit counts from now.
  compiler_helpers(compiler_state& state, std::string name);

  /// Compiles in the helper with `tool`.
  /// @throws compile_error, unavailable_error as compiler::compile.
  compile_reply compile(helper_tool tool, program const& subject);
  /// Starts the helper with `tool`, unless it runs. @throws as compile.
  void start(helper_tool tool) { (void)lease(tool); }
  /// Unpacks the headers that NVRTC brings to `folder`, unless they are there.
  /// @throws unavailable_error there is no helper or no NVRTC, or it cannot write them.
  void unpack_headers(std::string const& folder);

 private:
  helper_lease& lease(helper_tool tool);
  [[nodiscard]] helper_settings settings_for(helper_tool tool) const;

  compiler_state& state_;
  std::string name_;
  time_limit limit_;
  std::unique_ptr<helper_lease> nvrtc_;
  std::unique_ptr<helper_lease> nvvm_;
};

}  // namespace fatlink::detail
