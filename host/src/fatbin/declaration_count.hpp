// SPDX-License-Identifier: Apache-2.0
// The declarations read of all modules of an input, which are limited together. Threads: safe.
#pragma once

#include <atomic>
#include <cstddef>

#include "fatlink/export.hpp"

namespace fatlink {

struct FATLINK_PRIVATE declaration_count {
  std::atomic<std::size_t> value{0};
};

}  // namespace fatlink
