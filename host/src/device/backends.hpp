// SPDX-License-Identifier: Apache-2.0
// What opens the backends: gpu_device.cpp GPUs through the CUDA Driver API, reference_device.cpp
// the interpreter behind fatlink's errors and images. Threads: safe.
#pragma once

#include <memory>
#include <vector>

#include "fatlink/device.hpp"
#include "fatlink/device_backend.hpp"
#include "fatlink/device_info.hpp"

namespace fatlink::detail {

/// GPU `ordinal`. Retains its primary context for the life of the process.
/// @throws unavailable_error no driver, or no such GPU.
std::shared_ptr<device_backend> open_gpu(int ordinal);

/// Facts about every GPU that the driver shows. @throws unavailable_error no driver.
std::vector<device_info> gpu_infos();

/// The reference device. `link_target`: the target that device_info states; PTX for every target is
/// executed.
std::shared_ptr<device_backend> open_cpu(target link_target, cpu_options const& options);

}  // namespace fatlink::detail
