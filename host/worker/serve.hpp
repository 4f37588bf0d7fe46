// SPDX-License-Identifier: Apache-2.0
// The helper's side of the conversation (detail/worker_protocol.hpp), on standard input and output.
#pragma once

#include "fatlink/bytes.hpp"
#include "fatlink/nvjitlink.hpp"
#include "host_watch.hpp"

namespace fatlink {

/// Writes a whole message. Returns false where the host has gone.
bool write_message(bytes_view message);

/// Links request after request until the host closes the conversation.
/// Returns the exit status: 0 the host has ended, 2 it sent what is no request.
int serve(nvjitlink const& library, host_watch& watch);

}  // namespace fatlink
