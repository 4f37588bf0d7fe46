// SPDX-License-Identifier: Apache-2.0
// The part of XLA's foreign function interface (FFI), major version 0, that handlers of custom
// calls need: xla/ffi/api/c_api.h, which jaxlib ships, declares all of it. Minor versions only
// append members, so each struct is valid for all minor versions in which it has at least these
// members; its first member is its size. tests/python/test_jax.py compares the layout with the
// header. Units: bytes. Threads: XLA calls handlers in several threads.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fatlink::c::xla {

constexpr int k_major = 0;
/// The first minor version.
constexpr int k_first_minor = 1;

struct extension {
  std::size_t struct_size;
  std::int32_t type;  ///< 1: metadata_extension
  extension* next;
};
constexpr std::int32_t k_metadata = 1;

struct api_version {
  std::size_t struct_size;
  extension* extensions;
  int major;
  int minor;
};

struct error;    // of XLA
struct context;  // of XLA: the execution

/// The codes are those of absl::Status.
struct error_arguments {
  std::size_t struct_size;
  extension* extensions;
  char const* message;  ///< copied
  std::int32_t code;
};
constexpr std::size_t k_error_size = offsetof(error_arguments, code) + sizeof(std::int32_t);
struct stream_arguments {
  std::size_t struct_size;
  extension* extensions;
  xla::context* context;
  void* stream;  ///< out: a CUstream
};
struct ordinal_arguments {
  std::size_t struct_size;
  extension* extensions;
  xla::context* context;
  std::int32_t ordinal;  ///< out: of the GPU in this process
};
constexpr std::size_t k_ordinal_size = offsetof(ordinal_arguments, ordinal) + sizeof(std::int32_t);

/// A function that handlers do not call.
using unused_function = void (*)();

struct api {
  std::size_t struct_size;
  extension* extensions;
  api_version version;
  void const* internal;
  error* (*create_error)(error_arguments*);
  unused_function errors[2];
  unused_function register_handler;
  error* (*get_stream)(stream_arguments*);
  unused_function others[12];
  error* (*get_ordinal)(ordinal_arguments*);  ///< since version 0.2
};

struct bytes {
  char const* address;
  std::size_t size;
};

struct buffer {
  std::size_t struct_size;
  extension* extensions;
  std::int32_t type;  ///< a PrimitiveType of XLA
  void* data;
  std::int64_t rank;
  std::int64_t* extents;
};

/// Operands or results.
struct buffers {
  std::size_t struct_size;
  extension* extensions;
  std::int64_t count;
  std::int32_t* kinds;  ///< 1: a buffer
  void** entries;
};
constexpr std::int32_t k_buffer = 1;

struct attributes {
  std::size_t struct_size;
  extension* extensions;
  std::int64_t count;
  std::int32_t* kinds;  ///< 4: a string, whose entry is `bytes`
  bytes** names;
  void** entries;
};
constexpr std::int32_t k_string = 4;

struct frame {
  std::size_t struct_size;
  extension* extensions;
  xla::api const* api;
  xla::context* context;
  std::int32_t stage;
  buffers operands;
  buffers results;
  xla::attributes attributes;
};
constexpr std::int32_t k_initialize = 2;
constexpr std::int32_t k_execute = 3;

struct metadata {
  std::size_t struct_size;
  api_version version;   ///< out: of the handler
  std::uint32_t traits;  ///< out
};
constexpr std::uint32_t k_command_buffers = 1;  ///< a trait: command buffers may record the handler

struct metadata_extension {
  extension base;
  xla::metadata* metadata;
};

}  // namespace fatlink::c::xla
