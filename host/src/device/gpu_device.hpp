// SPDX-License-Identifier: Apache-2.0
// A GPU through the CUDA Driver API. Threads: safe.
#pragma once

#include <memory>

#include "fatlink/device_backend.hpp"

namespace fatlink::detail {

/// GPU `ordinal`. Retains its primary context for the life of the process.
/// @throws unavailable_error no driver, or no such GPU.
std::shared_ptr<device_backend> open_gpu(int ordinal);

}  // namespace fatlink::detail
