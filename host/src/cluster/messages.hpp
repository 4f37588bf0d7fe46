// SPDX-License-Identifier: Apache-2.0
// The messages of a collective call: each states its step and holds an outcome. The reader trusts
// nothing: it checks the checksum, and each size, count and enumerator.
//
// <message> ::= <magic> <version> <step> <outcome> <check>     little-endian
// <magic>   ::= "FLRK"   <version> ::= u32; 1: the first   <step> ::= u32
// <outcome> ::= u32 1 <content> | u32 0 <error>
// <check>   ::= 32 bytes, SHA-256 of everything before it
// Contents and errors: messages.cpp. Threads: no shared state.
#pragma once

#include <cxxabi.h>

#include <cstdint>
#include <exception>
#include <variant>
#include <vector>

#include "cluster/error_record.hpp"
#include "fatlink/bytes.hpp"
#include "fatlink/image.hpp"

namespace fatlink::detail {

/// What a message is.
enum class message_step : std::uint32_t {
  key = 1,  ///< to rank 0: which link a rank needs
  groups,   ///< from rank 0: the ranks that link for others
  image,    ///< from a rank that links
  result,   ///< to rank 0: whether a rank has used its image
  verdict,  ///< from rank 0: whether all have
};

/// Ranks that need the same link. A rank which is in no group of several links for itself.
struct link_group {
  digest256 key = {};
  std::uint32_t root = 0;  ///< the rank that links
};

/// A content, or the error because of which there is none.
template <typename Content>
using outcome = std::variant<Content, error_record>;

/// What `work` returns, or the error that it throws.
template <typename Content, typename Work>
outcome<Content> attempt(Work const& work)
try {
  return work();
} catch (abi::__forced_unwind const&) {  // the thread is being cancelled
  throw;
} catch (...) {
  return record_error(std::current_exception());
}

/// A whole message. Content: digest256, a vector of link_group, linked_image, std::monostate.
template <typename Content>
byte_buffer write_message(message_step step, outcome<Content> const& result);

/// The outcome in `message` of `step` from rank `sender`; a rank_error if it is no such message.
template <typename Content>
outcome<Content> read_message(bytes_view message, message_step step, unsigned sender);

}  // namespace fatlink::detail
