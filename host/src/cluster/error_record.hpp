// SPDX-License-Identifier: Apache-2.0
// An exception as a value that can be sent to other ranks, which throw an equal one: of the same
// type and with the same contents. An exception other than fatlink::error becomes one with the code
// rank-failed (std::bad_alloc: out-of-memory). Threads: values.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <string_view>
#include <vector>

#include "fatlink/error.hpp"
#include "fatlink/finding.hpp"

namespace fatlink::detail {

/// The types of errors that are sent. The values are part of the messages' format.
enum class error_type : std::uint32_t {
  base = 1,
  usage,
  file,
  format,
  link,
  compile,
  device,
  unavailable,
  refused,
  rank,
};

struct error_record {
  error_type type = error_type::base;
  stage where = stage::linker;
  error_details details = {};
  std::uint64_t offset = 0;            ///< of a format_error
  std::vector<finding> findings = {};  ///< of a refused_error
  std::vector<unsigned> ranks = {};    ///< of a rank_error
};

/// The error that `exception` holds; of classes derived from those above, the nearest of them.
error_record record_error(std::exception_ptr const& exception);

/// Throws an error equal to the recorded one.
[[noreturn]] void throw_error(error_record const& record);

/// The rank_error of ranks that did not send what is named `missing`, such as "the image".
error_record silence_of(std::vector<unsigned> ranks, char const* missing,
                        std::chrono::milliseconds limit);

/// The rank_error of a rank whose message cannot be used for the reason `cause`.
error_record damage_from(unsigned rank, std::string_view cause);

}  // namespace fatlink::detail
