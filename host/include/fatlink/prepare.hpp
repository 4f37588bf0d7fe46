// SPDX-License-Identifier: Apache-2.0
// Prepares launch plans: links a library with transforms, loads the result, and runs the library's
// launch plan with the caller's memory and stream.
//
//   auto const gpu = fatlink::open_device("gpu");
//   auto sum = fatlink::prepare(*gpu, linker, {.library = "reduce", .transforms = {"add"}});
//   sum.run(stream, {{"in", d_in}, {"out", d_out}, {"n", n}, {"init", 0.0F}});
//
// Units: elements, bytes. Ownership: a prepared plan keeps the device and the module alive.
// Threads: a prepared plan is immutable; several threads may call it, on different streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fatlink/device.hpp"
#include "fatlink/devices.hpp"
#include "fatlink/export.hpp"
#include "fatlink/input.hpp"
#include "fatlink/launch_plan.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/plan_call.hpp"
#include "fatlink/stream.hpp"

namespace FATLINK_API fatlink {

/// Device memory that a caller provides for the scratch arrays of a plan.
struct scratch_memory {
  /// The address, a multiple of 256 bytes, as returned by cudaMalloc. It must not overlap an input
  /// or output.
  device_address address = 0;
  std::size_t bytes = 0;  ///< at least prepared_plan::scratch_bytes; 0: no memory
};

/// The extents of the arrays for given sizes.
struct plan_extents {
  /// Extents of each array, including scratch arrays, by the name of its argument; slowest first.
  std::map<std::string, std::vector<std::size_t>> arrays = {};
  /// For each output whose depth the plan states: the longest chain of hook calls.
  std::map<std::string, std::uint64_t> depths = {};
};

/// A call of a plan with fixed arguments. All formulas have been evaluated, so that run() only
/// queues the launches.
class bound_plan {
 public:
  /// Queues the launches on `stream`. @throws device_error the driver refuses a launch.
  /// @throws usage_error `stream` belongs to another device.
  void run(stream_view stream) const;

 private:
  friend class prepared_plan;
  struct FATLINK_PRIVATE state;
  explicit bound_plan(std::shared_ptr<state const> contents) : state_(std::move(contents)) {}
  std::shared_ptr<state const> state_;
};

/// A library that is linked, loaded and ready to be called through its plan.
class prepared_plan {
 public:
  /// The plan, with the types that the transforms bind.
  [[nodiscard]] launch_plan const& plan() const noexcept;
  /// The linked image.
  [[nodiscard]] linked_image const& image() const noexcept;

  /// The extents of the plan's arrays for these sizes; other arguments may be omitted.
  /// @throws usage_error, file_error as run.
  [[nodiscard]] plan_extents extents(std::span<call_argument const> sizes) const;
  /// As above.
  [[nodiscard]] plan_extents extents(std::initializer_list<call_argument> sizes) const
  {
    return extents(std::span(sizes.begin(), sizes.size()));
  }

  /// The size in bytes of the plan's scratch arrays for these sizes; other arguments may be
  /// omitted. 0: the plan has no scratch arrays.
  /// @throws usage_error, file_error as run.
  [[nodiscard]] std::size_t scratch_bytes(std::span<call_argument const> sizes) const;
  /// As above.
  [[nodiscard]] std::size_t scratch_bytes(std::initializer_list<call_argument> sizes) const
  {
    return scratch_bytes(std::span(sizes.begin(), sizes.size()));
  }

  /// Queues the launches of the plan on `stream` and returns. Pass each argument of the plan once,
  /// by name. Sizes that follow from the buffers may be omitted, and so may a state. Without
  /// `scratch`, memory is allocated from fatlink's pool and released on the stream
  /// (device::memory_pool).
  /// @throws usage_error an argument is missing, unknown, not aligned, has the wrong type or size,
  ///   or overlaps another one although the plan does not allow it; or `scratch` is too small, not
  ///   aligned or overlaps an argument. The message shows what was expected and what was passed.
  /// @throws file_error (code invalid-plan) a formula of the plan cannot be evaluated, or the
  ///   scratch arrays have more than 2^63 - 1 bytes.
  /// @throws device_error the driver refuses a launch, or there is not enough memory.
  void run(stream_view stream, std::span<call_argument const> arguments,
           scratch_memory const& scratch = {}) const;
  /// As above.
  void run(stream_view stream, std::initializer_list<call_argument> arguments,
           scratch_memory const& scratch = {}) const
  {
    run(stream, std::span(arguments.begin(), arguments.size()), scratch);
  }

  /// Checks the arguments once, for a call that is run many times. If the plan has scratch arrays,
  /// `scratch` is required.
  /// @throws usage_error, file_error as run.
  [[nodiscard]] bound_plan bind(std::span<call_argument const> arguments,
                                scratch_memory const& scratch = {}) const;
  /// As above.
  [[nodiscard]] bound_plan bind(std::initializer_list<call_argument> arguments,
                                scratch_memory const& scratch = {}) const
  {
    return bind(std::span(arguments.begin(), arguments.size()), scratch);
  }

 private:
  friend prepared_plan prepare(device const&, launch_plan, std::vector<input> const&, linked_image);
  struct FATLINK_PRIVATE state;
  explicit prepared_plan(std::shared_ptr<state const> contents) : state_(std::move(contents)) {}
  std::shared_ptr<state const> state_;
};

/// What to prepare.
struct plan_request {
  std::string library = {};                  ///< a name or file, with a sidecar that states a plan
  std::vector<std::string> transforms = {};  ///< names or files; empty: the library's defaults
  link_mode mode = link_mode::lto;           ///< how to link them
};

/// Reads, checks and links the inputs, and loads the image.
/// @throws file_error a file is not found or unusable, or the library has no plan.
/// @throws refused_error there are findings of severity error, including plan-mismatch. Throws as
///   linker::link, device::load.
[[nodiscard]] prepared_plan prepare(device const& destination, linker& linker,
                                    plan_request const& request);

/// The result of preparing a plan on several devices.
struct prepared_devices {
  std::vector<device_result<prepared_plan>> devices = {};  ///< in the order of the devices
  shared_images images = {};  ///< of the links that succeeded, by target
};

/// As above, for several devices: reads the inputs once, links them once for each distinct target
/// and kind of image, and loads the images in parallel. If something fails for a device, including
/// its link, its result holds the error.
/// @throws file_error a file is not found or unusable, or the library has no plan.
/// @throws usage_error a device is null, or the mode is not an enumerator.
[[nodiscard]] prepared_devices prepare(opened_devices const& destinations, linker& linker,
                                       plan_request const& request);

/// Loads `image` and prepares it to run with `plan`. `image` must have been linked for
/// `destination` from `inputs`, the library first. The element types are taken from the inputs. For
/// structs, and for inputs that record no types, they are taken from the sidecars of the inputs.
/// @throws refused_error plan-mismatch, element-mismatch.
/// @throws usage_error no input states the type of an element, or two inputs bind different types.
/// @throws file_error (invalid-sidecar) a sidecar is malformed. Throws as device::load.
[[nodiscard]] prepared_plan prepare(device const& destination, launch_plan plan,
                                    std::vector<input> const& inputs, linked_image image);

}  // namespace fatlink
