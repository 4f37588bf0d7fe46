// SPDX-License-Identifier: Apache-2.0
// The helper's end of the protocol (link_helper/protocol.hpp), on descriptor 0, a socket.
#pragma once

#include "fatlink/bytes.hpp"
#include "link_helper/protocol.hpp"
#include "tool.hpp"

namespace fatlink {

/// Writes a complete message. Returns false if the host has closed the socket.
bool write_message(bytes_view message);

/// Sends a question within a request and returns the body of the answer. Ends the process if the
/// host has closed the socket, or answers with another kind of message.
byte_buffer ask_host(bytes_view question, detail::message_kind answer);

/// Serves requests until the host closes the socket, sends none for the idle time (idle_time),
/// or half of the processor time is used. Returns the exit status: 0, or 2 if the host sent an
/// invalid request.
int serve(tool const& opened);

}  // namespace fatlink
