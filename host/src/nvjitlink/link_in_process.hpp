// SPDX-License-Identifier: Apache-2.0
// One link through nvJitLink, with every answer checked. Trusts its inputs: callers run preflight
// first.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fatlink/bytes.hpp"
#include "fatlink/image.hpp"
#include "nvjitlink/api.hpp"
#include "nvjitlink/link_input.hpp"

namespace fatlink::detail {

/// What a link made.
struct link_product {
  byte_buffer bytes;
  std::vector<std::string> warnings;  ///< nvJitLink's other lines, progress reports left out
  double ms = 0;
};

/// Returns what this process has printed on standard error since the last call.
using printed_text = std::function<std::string()>;

/// Links `inputs` with nvJitLink's own `options`. `printed`: in a process whose standard error is
/// nobody else's; empty: what nvJitLink prints is not read.
/// @throws link_error any result but success, an error line in `printed` or in either log
///   (nvjitlink_log.hpp), an empty product; with all logs.
link_product link_in_process(nvjitlink const& library, std::vector<link_input> const& inputs,
                             std::vector<std::string> const& options, image_kind emit,
                             printed_text const& printed = {});

}  // namespace fatlink::detail
