// SPDX-License-Identifier: Apache-2.0
// The device's copies of what a call by a launch plan reads and writes. Threads: one at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fatlink/device.hpp"
#include "fatlink/prepare.hpp"
#include "run/plan_data.hpp"

namespace fatlink::cli {

/// The sizes of `data`, as prepared_plan::extents takes them.
std::vector<call_argument> size_arguments(run_data const& data);

class plan_arrays {
 public:
  /// Uploads the inputs and states, and allocates the outputs, filled with the byte `unwritten`.
  /// All references must outlive the object.
  /// @throws device_error the device has not enough memory.
  plan_arrays(device const& destination, launch_plan const& plan, run_data const& data,
              plan_extents const& extents, std::byte unwritten = std::byte{0xFF});

  /// All arguments of a call.
  [[nodiscard]] std::vector<call_argument> arguments() const;
  /// Copies the outputs back, by argument, those with a length as cut_outputs. @throws device_error
  /// a kernel failed.
  [[nodiscard]] std::map<std::string, host_array> read_outputs() const;

 private:
  void upload(device const& destination, std::string const& name,
              std::vector<std::byte> const& bytes);
  void add_output(device const& destination, plan_argument const& argument, std::byte unwritten);

  launch_plan const& plan_;
  run_data const& data_;
  plan_extents const& extents_;
  std::map<std::string, device_buffer<std::byte>> arrays_;  ///< by argument
};

}  // namespace fatlink::cli
