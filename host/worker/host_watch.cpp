// SPDX-License-Identifier: Apache-2.0
#include "host_watch.hpp"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

namespace fatlink {
namespace {

constexpr int k_interval_ms = 250;          ///< between looks at the parent process
constexpr useconds_t k_pause_us = 20000;    ///< while the helper is about to end by itself
constexpr std::size_t k_stack = 64 * 1024;  ///< bytes

/// Waits for the interval, or until the other end of standard input is closed.
bool has_input_ended()
{
  pollfd input{.fd = STDIN_FILENO, .events = POLLRDHUP, .revents = 0};
  return ::poll(&input, 1, k_interval_ms) > 0;
}

}  // namespace

host_watch::host_watch(pid_t host) : host_(host)
{
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, k_stack);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread{};
  (void)pthread_create(&thread, &attributes, &host_watch::watch, this);
  pthread_attr_destroy(&attributes);
}

void* host_watch::watch(void* self)
{
  auto const& watch = *static_cast<host_watch const*>(self);
  for (;;) {
    auto const has_ended = has_input_ended() || ::getppid() != watch.host_;
    if (has_ended && watch.is_linking_) ::_exit(0);
    if (has_ended) ::usleep(k_pause_us);
  }
}

}  // namespace fatlink
