// SPDX-License-Identifier: Apache-2.0
// A GPU over the CUDA Driver API.
#pragma once

#include <memory>
#include <vector>

#include "fatlink/device.hpp"

namespace fatlink::detail {

/// Facts about every GPU the driver shows. @throws unavailable_error no driver.
std::vector<device_info> gpu_infos();

/// GPU `ordinal`, its primary context retained for the life of the process.
/// @throws unavailable_error no driver, or no such GPU.
std::shared_ptr<device_backend> open_gpu(int ordinal);

}  // namespace fatlink::detail
