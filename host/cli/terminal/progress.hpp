// SPDX-License-Identifier: Apache-2.0
// A progress line on standard error if that is a terminal, shown if a run takes over a second.
#pragma once

#include <chrono>

namespace fatlink::cli {

class progress {
 public:
  progress();
  ~progress();  ///< erases the line
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;

  /// Shows that `fraction` of `step` is done, in [0, 1].
  void show(char const* step, double fraction);

 private:
  using clock = std::chrono::steady_clock;
  bool on_terminal_;
  bool shown_ = false;
  clock::time_point start_;
  clock::time_point last_;
};

}  // namespace fatlink::cli
