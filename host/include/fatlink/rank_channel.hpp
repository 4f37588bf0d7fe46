// SPDX-License-Identifier: Apache-2.0
// The transport that link_once needs: messages between the processes (ranks) of a job.
// fatlink/mpi.hpp implements it with MPI. To use another transport, derive a class from
// rank_channel; it must implement send() and receive() between rank 0 and each other rank. Messages
// from one rank to another must arrive complete, once, and in the order in which they were sent.
// Threads: a channel is used by one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "fatlink/bytes.hpp"
#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// A message that rank_channel::send sends.
struct rank_message {
  unsigned destination = 0;  ///< the rank that receives it
  bytes_view bytes = {};     ///< the content; the channel copies what it needs after send()
};

/// Sends messages to other ranks of a job and receives messages from them. Each call has a
/// deadline.
class rank_channel {
 public:
  /// A time until which a call waits.
  using time_point = std::chrono::steady_clock::time_point;

  rank_channel() = default;
  virtual ~rank_channel();
  rank_channel(rank_channel const&) = delete;
  rank_channel& operator=(rank_channel const&) = delete;

  /// The rank of this process, from 0.
  [[nodiscard]] virtual unsigned rank() const = 0;
  /// The number of ranks.
  [[nodiscard]] virtual unsigned size() const = 0;
  /// Sends `messages`. Returns when the receivers or the transport have accepted them, or at
  /// `deadline`. A message that was not accepted in time may still arrive later.
  virtual void send(std::vector<rank_message> const& messages, time_point deadline) = 0;
  /// Returns the next message from `source`; nullopt if none arrives by `deadline`. Checks for a
  /// message at least once, even if `deadline` has passed.
  virtual std::optional<byte_buffer> receive(unsigned source, time_point deadline) = 0;

  /// Sends `message` of rank `root` to all ranks. All ranks must make the calls in the same order;
  /// the `message` of other ranks is ignored. Returns the message: on `root` at the same time as
  /// send() would, on other ranks when it has arrived. Returns nullopt if it does not arrive by
  /// `deadline`; later broadcasts may then fail. By default, rank 0 sends the message to each rank.
  virtual std::optional<byte_buffer> broadcast(unsigned root, bytes_view message,
                                               time_point deadline);
};

}  // namespace fatlink
