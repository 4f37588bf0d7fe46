// SPDX-License-Identifier: Apache-2.0
// Finds the GPU and the kind of memory of an address. Threads: safe.
#pragma once

#include "device/cuda_driver.hpp"
#include "fatlink/device_backend.hpp"

namespace fatlink::detail {

enum class gpu_memory_kind {
  device,   ///< of a GPU
  managed,  ///< moves between the host and GPUs
  host,     ///< page-locked memory of the host, which GPUs can access
};

struct gpu_address {
  int ordinal = 0;  ///< of the GPU on which it was allocated or registered
  gpu_memory_kind kind = gpu_memory_kind::device;
};

/// Needs no current context.
/// @throws usage_error `address` is not in memory of CUDA, or no longer.
/// @throws device_error the driver fails the query.
gpu_address locate(driver const& api, device_address address);

}  // namespace fatlink::detail
