// SPDX-License-Identifier: Apache-2.0
// A library's kernels, linked with transforms, loaded, and ready to be called by the library's
// launch plan, with the caller's memory and stream:
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
  /// A multiple of 256 bytes, as cudaMalloc returns it. Not memory of an input or output.
  device_address address = 0;
  std::size_t bytes = 0;  ///< at least prepared_plan::scratch_bytes; 0 without memory
};

/// What a call with given sizes works on.
struct plan_extents {
  /// Extents of each array by the name of its argument, slowest first; scratch memory too.
  std::map<std::string, std::vector<std::size_t>> arrays = {};
  /// The hook calls in a row of each output for which the plan states a depth.
  std::map<std::string, std::uint64_t> depths = {};
};

/// A call of a plan whose arguments are fixed: running it computes nothing.
class bound_plan {
 public:
  /// Queues the launches on `stream`. @throws device_error the driver refuses one.
  /// @throws usage_error `stream` belongs to another device.
  void run(stream_view stream) const;

 private:
  friend class prepared_plan;
  struct FATLINK_PRIVATE state;
  explicit bound_plan(std::shared_ptr<state const> contents) : state_(std::move(contents)) {}
  std::shared_ptr<state const> state_;
};

/// A library that is linked, loaded and ready to be called by its plan.
class prepared_plan {
 public:
  /// The plan, with the types that the transforms bind.
  [[nodiscard]] launch_plan const& plan() const noexcept;
  /// The image that runs.
  [[nodiscard]] linked_image const& image() const noexcept;

  /// The extents of the plan's arrays for these sizes; other arguments may be left out.
  /// @throws usage_error, file_error as run.
  [[nodiscard]] plan_extents extents(std::span<call_argument const> sizes) const;
  /// The same.
  [[nodiscard]] plan_extents extents(std::initializer_list<call_argument> sizes) const
  {
    return extents(std::span(sizes.begin(), sizes.size()));
  }

  /// The memory that the plan's scratch arrays take for these sizes; other arguments may be left
  /// out. 0: the plan has none.
  /// @throws usage_error, file_error as run.
  [[nodiscard]] std::size_t scratch_bytes(std::span<call_argument const> sizes) const;
  /// The same.
  [[nodiscard]] std::size_t scratch_bytes(std::initializer_list<call_argument> sizes) const
  {
    return scratch_bytes(std::span(sizes.begin(), sizes.size()));
  }

  /// Queues the launches of the plan on `stream` and returns. Each argument of the plan is given
  /// once, by name; sizes may follow from the buffers, and a state may be left out. Without
  /// `scratch`, memory is allocated from and released to fatlink's pool on
  /// the stream (device::memory_pool).
  /// @throws usage_error an argument is missing, unknown, of another type or size, not aligned, or
  ///   overlaps one that the plan does not allow, or `scratch` is too small, not aligned or
  ///   overlaps an argument; the message states what is expected and what is given.
  /// @throws file_error (code invalid-plan) a formula of the plan cannot be evaluated, or the
  ///   scratch arrays have more than 2^63 - 1 bytes.
  /// @throws device_error the driver refuses a launch, or there is not enough memory.
  void run(stream_view stream, std::span<call_argument const> arguments,
           scratch_memory const& scratch = {}) const;
  /// The same.
  void run(stream_view stream, std::initializer_list<call_argument> arguments,
           scratch_memory const& scratch = {}) const
  {
    run(stream, std::span(arguments.begin(), arguments.size()), scratch);
  }

  /// The same call, to be run many times. Of a plan with scratch arrays, `scratch` is given.
  /// @throws usage_error, file_error as run.
  [[nodiscard]] bound_plan bind(std::span<call_argument const> arguments,
                                scratch_memory const& scratch = {}) const;
  /// The same.
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
  std::vector<std::string> transforms = {};  ///< names or files; none: the library's defaults
  link_mode mode = link_mode::lto;           ///< how to link them
};

/// Reads, checks and links the inputs, and loads the image.
/// @throws file_error a file is not found or unusable, or the library has no plan.
/// @throws refused_error findings, plan-mismatch among them. Throws as linker::link, device::load.
[[nodiscard]] prepared_plan prepare(device const& destination, linker& linker,
                                    plan_request const& request);

/// A plan that is prepared on several devices.
struct prepared_devices {
  std::vector<device_result<prepared_plan>> devices = {};  ///< in the order of the devices
  shared_images images = {};  ///< of the links that succeeded, by target; each made once
};

/// As above for several devices: reads the inputs once, links them once for each distinct target
/// and kind of image, and loads the images in parallel. What fails for one device, a link too, is
/// the error in its result.
/// @throws file_error a file is not found or unusable, or the library has no plan.
/// @throws usage_error a device is null, or the mode is not an enumerator.
[[nodiscard]] prepared_devices prepare(opened_devices const& destinations, linker& linker,
                                       plan_request const& request);

/// Loads `image`, which was linked from `inputs` (the library first) for `destination`, to run it
/// by `plan`. The types of elements are those that the inputs record; of structs, and where they
/// record none, those of the sidecars that the inputs were read with.
/// @throws refused_error plan-mismatch, element-mismatch. @throws usage_error an element whose type
///   no input states, or that two bind differently. @throws file_error (invalid-sidecar) a sidecar
///   is malformed. Throws as device::load.
[[nodiscard]] prepared_plan prepare(device const& destination, launch_plan plan,
                                    std::vector<input> const& inputs, linked_image image);

}  // namespace fatlink
