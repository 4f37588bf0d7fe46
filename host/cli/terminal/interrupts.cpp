// SPDX-License-Identifier: Apache-2.0
#include "terminal/interrupts.hpp"

#include <atomic>
#include <csignal>

#include "util/files/output_file.hpp"

namespace fatlink::cli {
namespace {

std::atomic<bool> is_deferred = false;
std::atomic<int> pending = 0;

/// Async-signal-safe.
void end_by(int signal)
{
  detail::remove_temporaries();
  std::signal(signal, SIG_DFL);
  std::raise(signal);  // in a handler: takes effect when that returns
}

void handle(int signal)
{
  int none = 0;
  if (is_deferred && pending.compare_exchange_strong(none, signal)) return;
  end_by(signal);
}

}  // namespace

void remove_temporaries_on_signals()
{
  for (auto const signal : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
}

deferred_interrupts::deferred_interrupts() noexcept
{
  is_deferred = true;
}

deferred_interrupts::~deferred_interrupts()
{
  is_deferred = false;
  if (pending != 0) end_by(pending);
}

bool deferred_interrupts::is_pending() const noexcept
{
  return pending != 0;
}

}  // namespace fatlink::cli
