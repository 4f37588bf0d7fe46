// SPDX-License-Identifier: Apache-2.0
#include "live/background_thread.hpp"

#include <unistd.h>
#include <csignal>

#include <system_error>
#include <utility>

#include "fatlink/error.hpp"
#include "util/text/format.hpp"
#include "wording.hpp"

namespace fatlink::detail {
namespace {

/// While it lives, threads that this one starts begin with all signals blocked.
class blocked_signals {
 public:
  blocked_signals() noexcept
  {
    sigset_t all;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &previous_);
  }
  ~blocked_signals() { (void)pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }
  blocked_signals(blocked_signals const&) = delete;
  blocked_signals& operator=(blocked_signals const&) = delete;

 private:
  sigset_t previous_{};
};

std::thread start(std::function<void()> work)
{
  blocked_signals const inherited;
  try {
    return std::thread([work = std::move(work), words = detail::current_wording()] {
      detail::wording_scope const scope(words);
      work();
    });
  } catch (std::system_error const& cause) {
    throw unavailable_error(
        stage::device, {.message = detail::format("cannot start a thread in the background: {}",
                                                  cause.code().message()),
                        .code = error_code::out_of_memory,
                        .hint = "raise the limits of processes and memory (ulimit -u, -v)"});
  }
}

}  // namespace

background_thread::background_thread(std::function<void()> work)
    : process_(::getpid()), thread_(start(std::move(work)))
{
}

bool background_thread::exists() const noexcept
{
  return process_ == ::getpid();
}

bool background_thread::is_current() const noexcept
{
  return thread_.get_id() == std::this_thread::get_id();
}

void background_thread::join() noexcept
{
  if (!thread_.joinable()) return;
  if (exists() && !is_current())
    thread_.join();
  else
    thread_.detach();
}

}  // namespace fatlink::detail
