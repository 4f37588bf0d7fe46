// SPDX-License-Identifier: Apache-2.0
#include "terminal/progress.hpp"

#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <utility>

#include "terminal/streams.hpp"

namespace fatlink::cli {
namespace {

using namespace std::chrono_literals;

void show_seconds(std::stop_token const& stop, std::string const& step, std::string const& note)
{
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any stopped;
  unsigned seconds = 0;
  while (!stopped.wait_for(lock, stop, 1s, [&] { return stop.stop_requested(); }))
    print_error("\r\x1b[K{}, {} s{}", step, ++seconds, note);
  if (seconds != 0) print_error("\r\x1b[K");
}

}  // namespace

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

step_line::step_line(std::string step, std::string note)
{
  if (::isatty(STDERR_FILENO) != 1) return;
  try {
    clock_ = std::jthread([step = std::move(step), note = std::move(note)](
                              std::stop_token const& stop) { show_seconds(stop, step, note); });
  } catch (std::system_error const&) {  // no thread can be started: the step has no clock
  }
}

}  // namespace fatlink::cli
