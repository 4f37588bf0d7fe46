// SPDX-License-Identifier: Apache-2.0
#include "fatlink/rank_channel.hpp"

namespace fatlink {
namespace {

/// Rank 0 sends `message` of `root` to all ranks that do not have it.
void pass_on(rank_channel& ranks, unsigned root, bytes_view message,
             rank_channel::time_point deadline)
{
  std::vector<rank_message> messages;
  for (unsigned rank = 1; rank < ranks.size(); ++rank)
    if (rank != root) messages.push_back({.destination = rank, .bytes = message});
  ranks.send(messages, deadline);
}

}  // namespace

rank_channel::~rank_channel() = default;

std::optional<byte_buffer> rank_channel::broadcast(unsigned root, bytes_view message,
                                                   time_point deadline)
{
  std::optional<byte_buffer> result;
  if (rank() != root)
    result = receive(rank() == 0 ? root : 0, deadline);
  else
    result.emplace(message.begin(), message.end());
  if (rank() == 0 && result)
    pass_on(*this, root, *result, deadline);
  else if (rank() == root)
    send({{.destination = 0, .bytes = message}}, deadline);
  return result;
}

}  // namespace fatlink
