// SPDX-License-Identifier: Apache-2.0
// Lines on standard error, if that is a terminal, that show how far a run is once it takes over a
// second.
#pragma once

#include <chrono>
#include <string>
#include <thread>

namespace fatlink::cli {

/// The fraction of a step that is done.
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

/// A step that cannot say which fraction of it is done, and its seconds.
class step_line {
 public:
  /// `note` follows the seconds: what ends the step, for one.
  explicit step_line(std::string step, std::string note = {});

 private:
  std::jthread clock_;  ///< its end erases the line
};

}  // namespace fatlink::cli
