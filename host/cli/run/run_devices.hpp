// SPDX-License-Identifier: Apache-2.0
// The devices of `fatlink run`: that of --device, else a GPU or, if there is none, the reference
// device; or those of a list, each of which processes a part of the rows.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/shared_links.hpp"
#include "fatlink/device.hpp"
#include "fatlink/device_info.hpp"
#include "fatlink/devices.hpp"

namespace fatlink::cli {

class device_choice {
 public:
  /// `name`: of --device; empty: without the option.
  explicit device_choice(std::string name) : name_(std::move(name)) {}

  /// Whether --device is of the form that names several devices.
  [[nodiscard]] bool is_list() const noexcept { return names_several_devices(name_); }
  /// Whether the reference device is chosen, of a list: is one of them. Without --device this opens
  /// the driver, which takes longer than the rest of a small run.
  bool is_reference_device();
  /// Begins to open the device of a choice that is no list, and returns what links need to know of
  /// it. A GPU's context, which takes as long as a short link, is created in another thread.
  /// @throws what open_device throws.
  device_info begin_open(cpu_options const& options);
  /// Waits until the device is open; opens those of a list. @throws what open_device or
  /// open_devices throws.
  opened_devices finish_open(cpu_options const& options);

  /// The text of --device; the name that was chosen without it.
  [[nodiscard]] std::string const& name() const noexcept { return name_; }

  /// Time in the functions above, ms: what opening the device adds to a run.
  [[nodiscard]] double ms() const noexcept { return ms_; }
  /// Why there is no GPU; empty with --device, or if a GPU was found.
  [[nodiscard]] std::string const& no_gpu_reason() const noexcept { return no_gpu_reason_; }

 private:
  void choose();

  std::string name_;  ///< empty: not chosen yet
  std::string no_gpu_reason_;
  std::future<std::shared_ptr<device>> opening_;  ///< of a GPU
  std::shared_ptr<device> opened_;
  double ms_ = 0;
};

/// How many of `devices` are open.
std::size_t count_open(opened_devices const& devices);

/// Where the threads of several devices wait for each other before measured launches: a barrier
/// whose members may leave. A thread that fails does not stop the others. Threads: safe.
class common_start {
 public:
  explicit common_start(std::size_t members) : members_(members) {}

  /// Waits until every member waits or has left.
  void wait()
  {
    std::unique_lock lock(mutex_);
    auto const round = round_;
    ++waiting_;
    start_if_complete();
    started_.wait(lock, [&] { return round_ != round; });
  }

  /// Removes this member.
  void leave()
  {
    std::lock_guard const lock(mutex_);
    --members_;
    start_if_complete();
  }

 private:
  void start_if_complete()
  {
    if (waiting_ == 0 || waiting_ < members_) return;
    waiting_ = 0;
    ++round_;
    started_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable started_;
  std::size_t members_;
  std::size_t waiting_ = 0;
  std::size_t round_ = 0;
};

/// The membership of a device's thread: it leaves when it ends, however that is.
class run_member {
 public:
  explicit run_member(common_start& start) : start_(start) {}
  ~run_member() { start_.leave(); }
  run_member(run_member const&) = delete;
  run_member& operator=(run_member const&) = delete;

 private:
  common_start& start_;
};

}  // namespace fatlink::cli
