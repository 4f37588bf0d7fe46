// SPDX-License-Identifier: Apache-2.0
// Progress on a terminal's standard error, shown once a run takes over a second.
#pragma once

#include <chrono>

namespace fatlink::cli {

class progress {
 public:
  progress();
  ~progress();  ///< clears the line
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;

  /// `fraction` of `doing` is done, in [0, 1].
  void show(char const* doing, double fraction);

 private:
  using clock = std::chrono::steady_clock;
  bool on_terminal_;
  bool shown_ = false;
  clock::time_point start_;
  clock::time_point last_;
};

}  // namespace fatlink::cli
