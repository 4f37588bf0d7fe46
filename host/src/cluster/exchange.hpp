// SPDX-License-Identifier: Apache-2.0
// The numbered messages of one collective call. Messages that were left over by earlier calls and
// steps, for example by a rank that was too late, are recognized and dropped.
//
// <message> ::= <magic> <version> <step> <call> <body> <check>     little-endian
// <magic>   ::= "FLRK"   <version> ::= u32; 1: the first   <step> ::= u32   <call> ::= u64
// <body>    ::= an outcome (message_parts.hpp)
// <check>   ::= 32 bytes, SHA-256 of everything before it
// Threads: as the channel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fatlink/bytes.hpp"
#include "fatlink/rank_channel.hpp"
#include "util/text/sequence.hpp"

namespace fatlink::detail {

constexpr std::uint32_t k_message_version = 1;
/// Bytes; MPI counts them by int.
constexpr std::uint64_t k_largest_message = (std::uint64_t{1} << 31) - 1;
constexpr std::uint64_t k_largest_body = k_largest_message - 52;

/// What a message is, in the order in which a call sends them.
enum class message_step : std::uint32_t {
  report = 1,    ///< to rank 0: the key of what a rank needs
  role,          ///< from rank 0: who links
  image,         ///< from the rank that links, or a rank that has received it
  confirmation,  ///< to rank 0: whether a rank has the image
  verdict,       ///< from rank 0: whether all have
};

struct rank_message_header {
  message_step step = message_step::report;
  std::uint64_t call = 0;
};

/// A whole message.
byte_buffer seal(rank_message_header const& header, bytes_view body);

struct opened_message {
  rank_message_header header;
  bytes_view body;  ///< points into the message
};
/// @throws sequence_error `message` is damaged, or of another version.
opened_message open_message(bytes_view message);

class exchange {
 public:
  using time_point = rank_channel::time_point;

  explicit exchange(rank_channel& channel) : channel_(channel), call_(channel.next_call()) {}

  [[nodiscard]] unsigned rank() const { return channel_.rank(); }
  [[nodiscard]] unsigned size() const { return channel_.size(); }

  /// A message to be sent: its receiver and body, of at most k_largest_body bytes.
  struct parcel {
    unsigned destination;
    bytes_view body;
  };
  void send(message_step step, std::vector<parcel> const& parcels, time_point deadline);
  /// The body of the message of `step` from `source`; nothing if it has not arrived by `deadline`.
  /// @throws sequence_error the message is damaged, or the rank is ahead of this one.
  std::optional<byte_buffer> receive(message_step step, unsigned source, time_point deadline);

 private:
  rank_channel& channel_;
  std::uint64_t call_;
};

}  // namespace fatlink::detail
