// SPDX-License-Identifier: Apache-2.0
// The helper's side of the conversation (link_helper/protocol.hpp), on descriptor 0, a socket.
#pragma once

#include "fatlink/bytes.hpp"
#include "fatlink/nvjitlink.hpp"

namespace fatlink {

/// Writes a whole message. Returns false where the host has left.
bool write_message(bytes_view message);

/// Links request after request until the host closes the conversation, sends none for
/// $FATLINK_HELPER_IDLE_SECONDS (60), or half of the processor time is used.
/// Returns the exit status: 0; 2 the host sent what is no request.
int serve(nvjitlink const& nvjitlink);

}  // namespace fatlink
