// SPDX-License-Identifier: Apache-2.0
// The messages between a host and its link helper (fatlink-linkd), over a socket that is the
// helper's standard input and output. Little-endian; both ends are from one build and on one
// machine. Each end treats the other's messages as untrusted: the helper, to contain a defect of
// the host; the host, because the helper runs nvJitLink or a compiler on bytes that may take it
// over. A helper serves links or compiles, as its tool does. Threads: no shared state.
//
// <message> ::= <magic> <kind> <number> <digest> <size> <body>
// <magic>   ::= "FLK4"   <kind> ::= u32   <size> ::= u64, bytes of the body
// <number>  ::= u64, of the request; a reply has its request's, a hello 0
// <digest>  ::= 32 bytes, SHA-256 of the request's body; a reply has that of the body it answers,
//               computed by the helper; a hello 0
// <request> ::= <emit> <options> <inputs>           kind 1, at most 2 GiB
// <emit>    ::= u32, image_kind
// <options> ::= u32 count, then texts
// <inputs>  ::= u32 count, then a text (name) and bytes each
// <hello>   ::= u32 major, u32 minor, u32 process, <text> path, reason, identity,
//               u32 count, texts (layers)           kind 2, at most 64 KiB: the tool is open
// <product> ::= f64 ms, u32 count, texts (warnings), bytes            kind 3, at most 256 MiB
// <failure> ::= u32 stage, then texts: message, input, code, log, hint    kind 4 link, 5
//               unavailable, at most 2 MiB
// <program> ::= <text> name, <bytes> source, u32 count, headers (<text> name, <bytes> text),
//               u32 count, <texts> options of each compile     kind 6, at most 512 MiB
// <compiled> ::= f64 ms, u32 count, products                    kind 7, at most 512 MiB
// <look-up> ::= <text> path      kind 8, at most 8 KiB: the compiler asks for a file before the
//               helper replies to <program>; the host replies with <file>
// <file>    ::= u32 kind, u64 device, u64 inode, u32 missing, <bytes> text   kind 9, at most 17 MiB
// <product of a compile> ::= <text> code, <text> log, <bytes> ptx, ltoir, cubin
// <text> and <bytes> as in util/text/sequence.hpp. The sender cuts texts that are too long.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "fatlink/bytes.hpp"
#include "fatlink/error.hpp"
#include "fatlink/image.hpp"
#include "toolkit/link_in_process.hpp"
#include "toolkit/program.hpp"
#include "util/text/sequence.hpp"

namespace fatlink::detail {

enum class message_kind : std::uint32_t {
  request = 1,
  hello,
  product,
  failure,
  unavailable,
  compile_request,
  compiled,
  look_up,
  file
};

constexpr std::size_t k_message_header = 56;

/// The largest body of each kind, bytes.
constexpr std::uint64_t k_largest_request = std::uint64_t{2} << 30;
constexpr std::uint64_t k_largest_hello = std::uint64_t{64} << 10;
constexpr std::uint64_t k_largest_product = std::uint64_t{256} << 20;
constexpr std::uint64_t k_largest_failure = std::uint64_t{2} << 20;
constexpr std::uint64_t k_largest_compile = std::uint64_t{512} << 20;  ///< request and reply

constexpr std::uint64_t k_largest_look_up = std::uint64_t{8} << 10;
constexpr std::uint64_t k_largest_file = std::uint64_t{17} << 20;

/// The folder of a compile's source in the paths of headers that the helper asks for
/// (compiler/header_files.hpp).
constexpr char const* k_source_folder = "/@source";

/// Bytes that are not a valid message: wrong magic, unknown kind, or a size outside its limit or
/// past the end.
using protocol_error = sequence_error;

/// Identifies a request; a reply repeats the identity of its request.
struct request_identity {
  std::uint64_t number = 0;
  digest256 digest{};  ///< SHA-256 of the request's body
  bool operator==(request_identity const&) const = default;
};

struct message_header {
  message_kind kind = message_kind::request;
  request_identity identity;
  std::uint64_t size = 0;  ///< bytes of the body
};

struct link_request {
  image_kind emit = image_kind::cubin;
  std::vector<std::string> options;
  struct input {
    std::string name;
    bytes_view bytes;  ///< points into a link_input on the host, into the message in the helper
    bool is_unverified_sass = false;  ///< see link_input; not sent, always false in the helper
  };
  std::vector<input> inputs;
};

struct helper_hello {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t process = 0;  ///< ID of the tool process
  std::string path;
  std::string reason;
  std::string identity;  ///< see library_file
  /// The layers of the sandbox: "NAME: on", "NAME: on: DETAIL" or "NAME: off: REASON".
  std::vector<std::string> layers;
};

/// The reply to a program.
struct compile_reply {
  double ms = 0;  ///< wall time of the compiles
  std::vector<compile_product> products = {};
};

/// What the host has for a path that the compiler looks up.
struct looked_up_file {
  enum class file_kind : std::uint32_t { missing, folder, regular };
  file_kind kind = file_kind::missing;
  std::uint64_t device = 0;  ///< with `inode`: which file it is, by whatever path
  std::uint64_t inode = 0;
  std::uint32_t missing = 0;   ///< how much of a missing path is missing as a whole: "/1/a", bytes
  std::string_view text = {};  ///< points into the host's copy, or into the message
};

struct helper_error {
  fatlink::stage where = stage::linker;
  error_details details;
  bool is_unavailable = false;
};

/// Header and body of a message.
byte_buffer encode(link_request const& request, std::uint64_t number);
byte_buffer encode(program const& request, std::uint64_t number);
byte_buffer encode(helper_hello const& hello);
byte_buffer encode(link_product const& product, request_identity const& request);
byte_buffer encode(helper_error const& failure, request_identity const& request);
byte_buffer encode(compile_reply const& reply, request_identity const& request);
/// Of a look-up of `path`.
byte_buffer encode_look_up(std::string const& path, request_identity const& request);
byte_buffer encode(looked_up_file const& file, request_identity const& request);

/// Decode what the other end sent. @throws protocol_error it is not a valid message of this kind.
message_header decode_header(bytes_view header);
link_request decode_request(bytes_view body);
program decode_program(bytes_view body);
/// Texts of hellos, products and failures come back printable (util/text/format.hpp).
helper_hello decode_hello(bytes_view body);
link_product decode_product(bytes_view body);
helper_error decode_failure(bytes_view body, message_kind kind);
compile_reply decode_compiled(bytes_view body);
std::string decode_look_up(bytes_view body);
looked_up_file decode_file(bytes_view body);

/// How long a helper waits for the next request before it ends itself:
/// $FATLINK_HELPER_IDLE_SECONDS; 60 s if it is not set or not a number. The host uses a helper for
/// three quarters of this time, so that no request reaches a helper that is about to end.
std::chrono::milliseconds idle_time();

/// Why $FATLINK_HELPER_IDLE_SECONDS is not used; empty if it is valid or not set.
std::string idle_time_warning();

}  // namespace fatlink::detail
