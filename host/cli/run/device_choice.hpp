// SPDX-License-Identifier: Apache-2.0
// The device of `fatlink run`: that of --device, else a GPU or, if there is none, the reference
// device; or the devices of a list.
#pragma once

#include <future>
#include <memory>
#include <string>

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
  /// Begins to open the device, and returns what links need to know of it. A GPU's context, which
  /// takes as long as a short link, is created in another thread.
  /// @throws what open_device throws.
  device_info begin_open(cpu_options const& options);
  /// Waits until the device is open. @throws what open_device throws.
  std::shared_ptr<device> finish_open();
  /// Those of a list. @throws what open_devices throws.
  opened_devices open_all(cpu_options const& options);

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

}  // namespace fatlink::cli
