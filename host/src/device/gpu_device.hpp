// SPDX-License-Identifier: Apache-2.0
// GPUs through the CUDA Driver API. Threads: safe.
#pragma once

#include <memory>
#include <vector>

#include "fatlink/device_backend.hpp"
#include "fatlink/device_info.hpp"

namespace fatlink::detail {

/// GPU `ordinal`. Retains its primary context for the life of the process.
/// @throws unavailable_error no driver, or no such GPU.
std::shared_ptr<device_backend> open_gpu(int ordinal);

/// Facts about every GPU that the driver shows. @throws unavailable_error no driver.
std::vector<device_info> gpu_infos();

}  // namespace fatlink::detail
