// SPDX-License-Identifier: Apache-2.0
// The devices of `fatlink run`: that of --device, else a GPU or, if there is none, the reference
// device; or those of a list, each of which processes a part of the rows. The links for them, and
// what is checked before them. Threads: one at a time.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "device/devices.hpp"
#include "fatlink/device.hpp"
#include "fatlink/device_info.hpp"
#include "fatlink/devices.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/image.hpp"
#include "fatlink/input.hpp"
#include "link_flags.hpp"

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

/// What is linked, once in each mode.
struct run_links {
  std::vector<input> inputs = {};
  std::vector<fatbin> modules = {};  ///< those of `inputs` that links take
  std::vector<link_mode> modes = {};
  std::vector<std::string> launched = {};  ///< the kernels that run
  std::vector<std::string> kept = {};      ///< the kernels to keep; empty: all
  link_flags flags = {};
};

/// Before preflight, which would report that such inputs have no PTX.
/// @throws unavailable_error an input holds SASS only, or the mode is sass, and the device is the
///   reference device.
void refuse_sass_without_gpu(run_links const& job, device_choice& choice);

/// Refuses inputs that link for no target, without a device, so that every machine reports them.
/// @throws refused_error with the findings.
void check_inputs(run_links const& job);

/// Checks the options of every link before the first one. `resources`: whether those of kernels are
/// asked for. @throws usage_error an option has no effect in one of the modes on this device.
void check_options(run_links const& job, device_info const& info, bool resources);

/// One link for each distinct target, kind of image and mode; `job` must outlive it.
detail::shared_links share_links(run_links const& job);

}  // namespace fatlink::cli
