// SPDX-License-Identifier: Apache-2.0
// Messages between the processes of a job, its ranks: what link_once needs of a cluster's
// transport. fatlink/mpi.hpp implements it over MPI; engines with another transport derive from it:
// send() and receive() suffice, between rank 0 and each other rank.
// Messages from one rank to another arrive whole, once, and in the order in which they were sent.
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
  bytes_view bytes = {};     ///< the channel copies what it needs later
};

/// Sends messages to the ranks of a job and receives theirs, each call within a time limit.
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
  /// Sends `messages`; returns when the receivers have taken them, the transport has, or it is
  /// `deadline`. A message that was not taken may still arrive later.
  virtual void send(std::vector<rank_message> const& messages, time_point deadline) = 0;
  /// The next message from `source`; nothing if none has arrived by `deadline`. Looks at least once
  /// for a message, even if `deadline` has passed.
  virtual std::optional<byte_buffer> receive(unsigned source, time_point deadline) = 0;

  /// Gives `message` of rank `root` to all ranks, which make the call in the same order; what other
  /// ranks pass is not used. Returns the message: on `root` as send() does, on others when it has
  /// arrived; nothing if it has not by `deadline`, after which further broadcasts may fail. Unless
  /// a transport overrides it, rank 0 sends the message to each rank.
  virtual std::optional<byte_buffer> broadcast(unsigned root, bytes_view message,
                                               time_point deadline);
};

}  // namespace fatlink
