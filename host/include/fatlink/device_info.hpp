// SPDX-License-Identifier: Apache-2.0
// Facts about a device, and types that device code and callers share.
// Units: bytes.
// Threads: value types; objects share no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "fatlink/export.hpp"
#include "fatlink/image.hpp"
#include "fatlink/target.hpp"

namespace FATLINK_API fatlink {

/// A kind of device: a GPU, or the reference device, which executes PTX on the CPU.
enum class device_kind { gpu, cpu };
/// "gpu" or "cpu".
char const* to_string(device_kind kind) noexcept;

/// An address in a device's memory: a CUdeviceptr, or an address of the reference device.
using device_address = std::uint64_t;

/// Facts about a device; they do not change while it is open.
struct device_info {
  device_kind kind = device_kind::gpu;  ///< a GPU or the reference device
  int ordinal = 0;               ///< the driver's index of the GPU; 0 for the reference device
  std::string name = {};         ///< "NVIDIA H200"
  fatlink::target target;        ///< what to link for, without suffix: sm_90
  std::size_t memory_bytes = 0;  ///< memory of the GPU; 0 for the reference device
  unsigned multiprocessors = 0;  ///< number in the GPU; CPU cores for the reference device
  /// The maximum shared memory of one block, static and dynamic together.
  std::size_t max_shared_bytes_per_block = 0;

  /// The kind of image that the device loads for `mode`: cubins on a GPU; PTX (lto) or sets of PTX
  /// (ptx) on the reference device.
  [[nodiscard]] image_kind image_for(link_mode mode) const noexcept
  {
    if (kind == device_kind::gpu || mode == link_mode::sass) return image_kind::cubin;
    return mode == link_mode::lto ? image_kind::ptx : image_kind::ptx_set;
  }
};

}  // namespace fatlink
