// SPDX-License-Identifier: Apache-2.0
#include "live/background_thread.hpp"

#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "base/wording.hpp"
#include "fatlink/error.hpp"
#include "util/text/format.hpp"

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

/// Shared with the thread, which may outlive a newest_job that a job destroys.
struct newest_job::state {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> waiting;
  bool is_working = false;
  bool is_ending = false;
  std::optional<background_thread> thread;

  void work()
  {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return is_ending || waiting; });
      if (is_ending) return;
      auto job = std::exchange(waiting, nullptr);
      is_working = true;
      lock.unlock();
      job();
      job = nullptr;
      lock.lock();
      is_working = false;
      changed.notify_all();
    }
  }
};

newest_job::newest_job() : state_(std::make_shared<state>()) {}

newest_job::~newest_job()
{
  if (!state_->thread) return;
  if (state_->thread->exists()) {
    std::lock_guard const lock(state_->mutex);
    state_->is_ending = true;
    state_->waiting = nullptr;
  }
  state_->changed.notify_all();
  state_->thread->join();
}

void newest_job::start_thread()
{
  std::lock_guard const lock(state_->mutex);
  if (!state_->thread) state_->thread.emplace([owned = state_] { owned->work(); });
}

void newest_job::start(std::function<void()> job) noexcept
{
  std::lock_guard const lock(state_->mutex);
  state_->waiting = std::move(job);
  state_->changed.notify_all();
}

void newest_job::wait() const
{
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return !state_->waiting && !state_->is_working; });
}

}  // namespace fatlink::detail
