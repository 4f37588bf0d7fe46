// SPDX-License-Identifier: Apache-2.0
// Facts about GPUs, from the driver. Threads: safe.
#pragma once

#include <vector>

#include "device/cuda_driver.hpp"
#include "fatlink/device_info.hpp"

namespace fatlink::detail {

/// @throws device_error no GPU with this ordinal.
CUdevice gpu_handle(driver const& api, int ordinal);

/// @throws device_error no GPU with this ordinal, or the driver fails a query.
device_info gpu_info(driver const& api, int ordinal);

/// Facts about every GPU that the driver shows. @throws unavailable_error no driver.
std::vector<device_info> gpu_infos();

}  // namespace fatlink::detail
