// SPDX-License-Identifier: Apache-2.0
// Uses several devices at once: opens them together, links once for each distinct target and kind
// of image, and loads in parallel. Each device has its own result, a value or an error, so a device
// that fails does not stop the others:
//
//   auto const gpus = fatlink::open_devices("all");
//   auto loaded = fatlink::link_and_load(gpus, linker, inputs);
//   for (auto& gpu : loaded.devices) auto const& code = gpu.get();  // throws the device's error
//
// For launch plans see prepare() in prepare.hpp. If several devices have the same error, they share
// one exception object.
// Threads: each function starts one thread for each device and waits for all; results are values.
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
  std::string device = {};          ///< "gpu:1", "cpu:sm_80"; "cpu#2" for the second "cpu"
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

/// The result of loading an image on several devices.
struct loaded_devices {
  std::vector<device_result<loaded_module>> devices = {};  ///< in the order of the devices
  shared_images images = {};  ///< of the links that succeeded, by target
};

/// Whether `names` has a form that names several devices: "all", a list, or a number of reference
/// devices ("2xcpu"). False for "gpu:1".
[[nodiscard]] bool names_several_devices(std::string_view names) noexcept;

/// Opens every device of a list, in parallel:
///   all             every GPU that the driver reports
///   gpu:0,1   0,1   these GPUs; each item of a list is a name of open_device, or an ordinal
///   cpu,cpu  2xcpu  two reference devices (2xcpu:sm_80: for this target)
/// `options` apply to every reference device. Every device has a result; if it cannot be opened,
/// the result holds the error.
/// @throws usage_error `names` has none of these forms, a target is unknown, a GPU is named twice,
///   or there are more than 1,024 devices.
/// @throws unavailable_error, device_error no device could be opened; the message contains the
///   error of each.
[[nodiscard]] opened_devices open_devices(std::string_view names, cpu_options const& options = {});
/// As above. @throws usage_error `names` is null.
[[nodiscard]] opened_devices open_devices(char const* names, cpu_options const& options = {});

/// Links `inputs` once for each distinct target and kind of image among `destinations`, with or
/// without a cache, and loads the image on each device. A device that was not opened keeps its
/// error. If a link fails, each device that needs it receives the error.
/// @throws usage_error a device is null, or `mode` is not an enumerator.
[[nodiscard]] loaded_devices link_and_load(opened_devices const& destinations, linker& linker,
                                           std::vector<input> const& inputs,
                                           link_mode mode = link_mode::lto);

}  // namespace fatlink
