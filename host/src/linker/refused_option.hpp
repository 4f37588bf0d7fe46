// SPDX-License-Identifier: Apache-2.0
// Failed links of which a raw option is the cause, not an input: the option is allowed, but this
// nvJitLink, older or newer than the one that was measured, does not know it. Threads: no shared
// state.
#pragma once

#include "fatlink/error.hpp"
#include "fatlink/link_options.hpp"

namespace fatlink::detail {

/// `failure` with a message and a hint about the option of link_options::ptxas or ::nvvm that its
/// log names in a line about options; unchanged if there is none.
error_details name_refused_option(error_details failure, link_options const& options);

}  // namespace fatlink::detail
