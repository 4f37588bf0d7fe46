// SPDX-License-Identifier: Apache-2.0
// One call of nvJitLink in the process that calls this: the host's or the helper's. Every result is
// checked. The inputs are trusted: callers run preflight first. Threads: safe.
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

/// The result of a link.
struct link_product {
  byte_buffer bytes = {};
  std::vector<std::string> warnings = {};  ///< lines of the logs, without progress reports
  double ms = 0;                           ///< wall time of the link
};

/// Returns what this process has printed on standard error since the previous call.
using printed_text = std::function<std::string()>;

/// Links `inputs` with nvJitLink's own `options`. `printed`: for a process in which only nvJitLink
/// writes to standard error; empty: what nvJitLink prints is not read.
/// @throws link_error nvJitLink reports a failure, there is an error line in `printed` or in a log
///   (nvjitlink/log.hpp), or the image is empty. The error carries all logs.
link_product link_in_process(nvjitlink const& nvjitlink, std::vector<link_input> const& inputs,
                             std::vector<std::string> const& options, image_kind emit,
                             printed_text const& printed = {});

}  // namespace fatlink::detail
