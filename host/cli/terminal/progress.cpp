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

void progress::show(char const* doing, double fraction)
{
  auto const now = clock::now();
  if (!on_terminal_ || now - start_ < 1s || now - last_ < 100ms) return;
  last_ = now;
  shown_ = true;
  print_error("\r\x1b[K{} {:.0f} %", doing, 100 * fraction);
}

}  // namespace fatlink::cli
