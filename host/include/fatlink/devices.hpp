// SPDX-License-Identifier: Apache-2.0
// Several devices at once: opened together, one link for each distinct target and kind of image,
// loaded in parallel. Each device has a result of its own, a value or the error, so that a device
// that fails is seen and does not stop the others:
//
//   auto const gpus = fatlink::open_devices("all");
//   auto loaded = fatlink::link_and_load(gpus, linker, inputs);
//   for (auto& gpu : loaded.devices) auto const& code = gpu.get();  // throws the device's error
//
// Launch plans: prepare() in prepare.hpp. Threads: each function starts one for each device and
// waits for them; the results are values. An error that several devices share is one object.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fatlink/device.hpp"
#include "fatlink/export.hpp"
#include "fatlink/image.hpp"
#include "fatlink/input.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/loaded_module.hpp"

namespace FATLINK_API fatlink {

/// The outcome on one of several devices: a value, or the error.
template <typename Value>
struct device_result {
  std::string device = {};          ///< its name: "gpu:1", "cpu:sm_80"; of two of one name "cpu#2"
  std::optional<Value> value = {};  ///< empty: the device failed
  std::exception_ptr failure = {};  ///< the error; null for a device with a value

  /// Whether there is a value.
  [[nodiscard]] explicit operator bool() const noexcept { return value.has_value(); }
  /// The value. Throws the device's error.
  [[nodiscard]] Value const& get() const
  {
    if (!value && failure) std::rethrow_exception(failure);
    return value.value();
  }
};

/// Devices in the order of their names.
using opened_devices = std::vector<device_result<std::shared_ptr<device>>>;

/// Images, shared by the devices that load them: one for each distinct target and kind of image.
using shared_images = std::vector<std::shared_ptr<linked_image const>>;

/// An image that is loaded on several devices.
struct loaded_devices {
  std::vector<device_result<loaded_module>> devices = {};  ///< in the order of the devices
  shared_images images = {};  ///< of the links that succeeded, by target; each made once
};

/// Whether `names` is of the form that names several devices: "all", a list, or a number of
/// reference devices. "gpu:1" is not.
[[nodiscard]] bool names_several_devices(std::string_view names) noexcept;

/// Opens every device of a list, in parallel:
///   all             every GPU that the driver reports
///   gpu:0,1   0,1   these GPUs; each item of a list is a name of open_device, or an ordinal
///   cpu,cpu  2xcpu  two reference devices (2xcpu:sm_80: for this target)
/// `options` are those of every reference device. A device that cannot be opened has the error in
/// its result; none is left out.
/// @throws usage_error another spelling, an unknown target, a GPU named twice, or more than 1,024
///   devices.
/// @throws unavailable_error, device_error no device could be opened; of several the message has
///   the error of each.
[[nodiscard]] opened_devices open_devices(std::string_view names, cpu_options const& options = {});
/// The same. @throws usage_error `names` is null.
[[nodiscard]] opened_devices open_devices(char const* names, cpu_options const& options = {});

/// Links `inputs` once for each distinct target and kind of image among `destinations`, with or
/// without a cache, and loads the image on each device. A device that was not opened keeps its
/// error; an error of a link is that of every device that it is for.
/// @throws usage_error a device is null, or `mode` is not an enumerator.
[[nodiscard]] loaded_devices link_and_load(opened_devices const& destinations, linker& linker,
                                           std::vector<input> const& inputs,
                                           link_mode mode = link_mode::lto);

}  // namespace fatlink
