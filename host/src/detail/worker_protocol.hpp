// SPDX-License-Identifier: Apache-2.0
// What a host and its link helper (fatlink-linkd) say to each other, over the helper's standard
// input and output. Little-endian; both ends are of one build and one machine. Each end reads the
// other's messages as untrusted: the helper because a defect of ours must not spread, the host
// because the helper runs nvJitLink on bytes that may take it over.
//
// <message> ::= <magic> <kind> <size> <body>
// <magic>   ::= "FLK1"   <kind> ::= u32   <size> ::= u64, bytes of the body, at most 2 GiB
// <request> ::= <emit> <options> <inputs>           kind 1
// <emit>    ::= u32, image_kind
// <options> ::= u32 count, then texts
// <inputs>  ::= u32 count, then a text (name) and bytes each
// <hello>   ::= u32 major, u32 minor, <text> path, reason, identity   kind 2: nvJitLink is open
// <product> ::= f64 ms, u32 count, texts (warnings), bytes            kind 3
// <failure> ::= u32 stage, then texts: message, input, code, log, hint    kind 4 link, 5
// unavailable. <text> and <bytes> as in detail/sequence.hpp
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "detail/link_session.hpp"
#include "detail/sequence.hpp"
#include "fatlink/bytes.hpp"
#include "fatlink/error.hpp"
#include "fatlink/image.hpp"

namespace fatlink::detail {

enum class message_kind : std::uint32_t { request = 1, hello, product, link_failure, unavailable };

constexpr std::size_t k_message_header = 16;
constexpr std::uint64_t k_most_message = std::uint64_t{2} << 30;

/// Bytes that are no message: of the wrong magic, or a size past the end.
using protocol_error = sequence_error;

struct message_header {
  message_kind kind = message_kind::request;
  std::uint64_t size = 0;
};

struct link_request {
  image_kind emit = image_kind::cubin;
  std::vector<std::string> options;
  struct input {
    std::string name;
    bytes_view bytes;  ///< into the message, or the fatbin
  };
  std::vector<input> inputs;
};

struct worker_hello {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::string path;
  std::string reason;
  std::string identity;  ///< the file's; see nvjitlink_file.hpp
};

struct worker_failure {
  fatlink::stage where = stage::linker;
  error_details details;
  bool is_unavailable = false;
};

/// A header and a body, ready to write.
byte_buffer encode(link_request const& request);
byte_buffer encode(worker_hello const& hello);
byte_buffer encode(link_product const& product);
byte_buffer encode(worker_failure const& failure);

/// @throws protocol_error what was read is none of these.
message_header decode_header(bytes_view header);
link_request decode_request(bytes_view body);
worker_hello decode_hello(bytes_view body);
link_product decode_product(bytes_view body);
worker_failure decode_failure(bytes_view body, message_kind kind);

}  // namespace fatlink::detail
