// SPDX-License-Identifier: Apache-2.0
// One link through nvJitLink, with every answer checked and everything it prints caught.
// Trusts its inputs: callers run preflight first.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "detail/nvjitlink_api.hpp"
#include "fatlink/bytes.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/image.hpp"

namespace fatlink::detail {

/// What a link made.
struct link_product {
  byte_buffer bytes;
  std::vector<std::string> warnings;  ///< what nvJitLink said besides, one line each
  double ms = 0;
};

/// Links `inputs` with nvJitLink's own `options`. Standard error is captured meanwhile.
/// @throws link_error any result but success, an `@E@` line, an empty product; with all logs.
link_product link_unchecked(nvjitlink const& library, std::vector<fatbin> const& inputs,
                            std::vector<std::string> const& options, image_kind emit);

}  // namespace fatlink::detail
