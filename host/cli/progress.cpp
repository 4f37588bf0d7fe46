// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace fatlink::cli {

using namespace std::chrono_literals;

progress::progress()
    : on_terminal_(::isatty(STDERR_FILENO) == 1), start_(clock::now()), last_(start_)
{
}

progress::~progress()
{
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void progress::show(char const* doing, double fraction)
{
  auto const now = clock::now();
  if (!on_terminal_ || now - start_ < 1s || now - last_ < 100ms) return;
  last_ = now;
  shown_ = true;
  fmt::print(stderr, "\r\x1b[K{} {:.0f} %", doing, 100 * fraction);
  std::fflush(stderr);
}

}  // namespace fatlink::cli
