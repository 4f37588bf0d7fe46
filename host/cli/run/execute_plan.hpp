// SPDX-License-Identifier: Apache-2.0
// Runs one linked image by its launch plan: the device's copies of the arrays, the launches, the
// outputs. Threads: one at a time for each device.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fatlink/device.hpp"
#include "fatlink/prepare.hpp"
#include "run/run_data.hpp"

namespace fatlink::cli {

/// What outputs hold before the run of the first mode, of the second, and on the reference device.
/// 0xFF: NaN as floats.
inline constexpr std::array k_unwritten_bytes{std::byte{0xFF}, std::byte{0x5A}, std::byte{0xA5}};

/// Sizes as prepared_plan::extents takes them.
std::vector<call_argument> size_arguments(std::map<std::string, std::int64_t> const& sizes);

/// How many bytes of an array the host holds at a time, where it need not hold all of them.
std::size_t piece_bytes(device_kind kind) noexcept;

/// Device memory by the name of an argument.
using device_arrays = std::map<std::string, device_buffer<std::byte>>;

/// The device's copies of what a call by a launch plan reads and writes.
class plan_arrays {
 public:
  /// Uploads the states and the inputs, but for those that `shared_inputs` has, which gets them;
  /// null: the object's own. Allocates the outputs, filled with the byte `unwritten`. All
  /// references must outlive the object.
  /// @throws device_error the device has not enough memory. @throws file_error as npy_reader.
  plan_arrays(device const& destination, launch_plan const& plan, run_data const& data,
              plan_extents const& extents, std::byte unwritten = std::byte{0xFF},
              device_arrays* shared_inputs = nullptr);
  plan_arrays(plan_arrays const&) = delete;
  plan_arrays& operator=(plan_arrays const&) = delete;

  /// All arguments of a call.
  [[nodiscard]] std::vector<call_argument> arguments() const;
  /// Copies the outputs to the host, by argument: the first elements, as many as `results` has of
  /// the array, or as its length states. @throws device_error a kernel failed.
  [[nodiscard]] std::map<std::string, run_array> read_outputs(plan_extents const& results) const;
  /// The first elements of each output, of a plan whose outputs have no length.
  [[nodiscard]] std::map<std::string, run_array> outputs_on_device(
      plan_extents const& results) const;

 private:
  void upload(device const& destination, std::string const& name, run_array const& array);
  void add_output(device const& destination, plan_argument const& argument, std::byte unwritten);

  launch_plan const& plan_;
  run_data const& data_;
  plan_extents const& extents_;
  device_arrays own_inputs_;
  device_arrays& inputs_;
  device_arrays arrays_;  ///< states and outputs
};

/// When something began and ended, by the clock of the host.
struct time_span {
  std::chrono::steady_clock::time_point begin = {};
  std::chrono::steady_clock::time_point end = {};
};

/// What one image did on one device.
struct mode_result {
  linked_image image = {};
  double load_ms = 0;       ///< wall time of loading; the reference device also links PTX then
  double launch_ms = 0;     ///< from the first launch to the end of the last, wall time
  double run_ms = 0;        ///< all launches, measured by the device's events
  time_span measured = {};  ///< of the launches, by the clock of the host
  std::map<std::string, run_array> outputs = {};
  std::byte unwritten = {};  ///< the byte that elements hold which no kernel wrote
  std::map<std::string, std::uint64_t> depths = {};  ///< as plan_extents
};

struct execution_options {
  std::byte unwritten = {};         ///< with another one in each run, unwritten results differ
  device_arrays* inputs = nullptr;  ///< see plan_arrays
  /// Whether results depend on the inputs in their own row only. Outputs stay on the device then,
  /// and on a GPU the second of two calls is measured if the transforms have no state.
  bool is_by_rows = false;
  std::function<void()> before_launch = {};  ///< called before the calls that are measured
};

/// Makes the launches of `code`, which was prepared for `destination`. `load_ms` of the result is
/// left to the caller. @throws as prepared_plan::run, plan_arrays.
mode_result execute_plan(device const& destination, prepared_plan const& code, run_data const& data,
                         execution_options const& options);

/// Moves an array of the reference device, whose memory is the host's, to an unnamed file in
/// $TMPDIR. Where there is no room for it, the array stays where it is.
void set_aside(run_array& array);

}  // namespace fatlink::cli
