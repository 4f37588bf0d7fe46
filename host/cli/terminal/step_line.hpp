// SPDX-License-Identifier: Apache-2.0
// A line on standard error, if that is a terminal, with the step of a run that cannot say which
// fraction of it is done, and its seconds; shown once the step takes over a second.
#pragma once

#include <string>
#include <thread>

namespace fatlink::cli {

class step_line {
 public:
  explicit step_line(std::string step);

 private:
  std::jthread clock_;  ///< its end erases the line
};

}  // namespace fatlink::cli
