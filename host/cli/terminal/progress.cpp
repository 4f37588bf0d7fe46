// SPDX-License-Identifier: Apache-2.0
#include "terminal/progress.hpp"

#include <unistd.h>

#include "terminal/standard_streams.hpp"

namespace fatlink::cli {

using namespace std::chrono_literals;

progress::progress()
    : on_terminal_(::isatty(STDERR_FILENO) == 1), start_(clock::now()), last_(start_)
{
}

progress::~progress()
{
  if (shown_) print_error("\r\x1b[K");
}

void progress::show(char const* step, double fraction)
{
  auto const time = clock::now();
  if (!on_terminal_ || time - start_ < 1s || time - last_ < 100ms) return;
  last_ = time;
  shown_ = true;
  print_error("\r\x1b[K{} {:.0f} %", step, 100 * fraction);
}

}  // namespace fatlink::cli
