// SPDX-License-Identifier: Apache-2.0
#include "vendor/process_end_guard.hpp"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>

#include "fatlink/error.hpp"
#include "util/process/fork_guard.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr auto k_longest_wait = std::chrono::seconds(10);

thread_local int links_of_thread = 0;

[[noreturn]] void refuse_link(std::string const& reason)
{
  throw unavailable_error(
      stage::linker, {.message = detail::format("nvJitLink cannot run in this process: {}", reason),
                      .input = "nvJitLink",
                      .code = error_code::nvjitlink_unavailable,
                      .hint = "link in the helper (<isolation::helper>, the default)"});
}

/// Counts the links that run in this process. Never destroyed: it is used until the process ends.
class link_gate {
 public:
  static link_gate& instance()
  {
    static auto& gate = *new link_gate;
    return gate;
  }

  void enter()
  {
    std::lock_guard const lock(mutex_);
    if (is_ending_) refuse_link("the process is ending");
    if (was_forked_in_link_) refuse_link("it was forked while another thread was linking");
    ++running_;
    ++links_of_thread;
  }

  void leave()
  {
    {
      std::lock_guard const lock(mutex_);
      --running_;
      --links_of_thread;
    }
    has_link_ended_->notify_all();
  }

  /// Waits for the links of other threads only: nvJitLink itself may end the process.
  void close()
  {
    std::unique_lock lock(mutex_);
    is_ending_ = true;
    has_link_ended_->wait_for(lock, k_longest_wait, [&] { return running_ <= links_of_thread; });
  }

 private:
  void enter_child()
  {
    was_forked_in_link_ = was_forked_in_link_ || running_ > links_of_thread;
    running_ = links_of_thread;
    // Constructed again in place: the threads that wait on the old object are the parent's, and its
    // destructor would wait for them.
    std::construct_at(has_link_ended_.get());
  }

  std::mutex mutex_;
  std::unique_ptr<std::condition_variable> has_link_ended_ =
      std::make_unique<std::condition_variable>();
  int running_ = 0;
  bool is_ending_ = false;
  bool was_forked_in_link_ = false;
  fork_guard fork_guard_{fork_order::nvjitlink, mutex_, [this] { enter_child(); }};
};

/// Closes the gate when the main thread ends.
struct main_thread_end {
  bool is_armed = false;
  ~main_thread_end()
  {
    if (is_armed && ::gettid() == ::getpid()) link_gate::instance().close();
  }
};

thread_local main_thread_end end_of_thread;

/// Creates the object of the calling thread: when the shared library is loaded, usually by the main
/// thread, and when a thread links.
bool watch_thread()
{
  return end_of_thread.is_armed = true;
}

[[maybe_unused]] bool const loading_thread_is_watched = watch_thread();
// Constructed before there are threads: a construction that a fork interrupts is never finished in
// the child.
[[maybe_unused]] auto const& gate_at_start = link_gate::instance();

}  // namespace

process_end_guard::process_end_guard()
{
  watch_thread();
  link_gate::instance().enter();
}

process_end_guard::~process_end_guard()
{
  link_gate::instance().leave();
}

void process_end_guard::watch_exit()
{
  static std::once_flag is_registered;
  std::call_once(is_registered, [] { (void)std::atexit([] { link_gate::instance().close(); }); });
}

}  // namespace fatlink::detail
