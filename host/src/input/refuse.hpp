// SPDX-License-Identifier: Apache-2.0
// The error of a malformed input file. Threads: no shared state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fatlink/error.hpp"
#include "util/bytes/byte_reader.hpp"

namespace fatlink::detail {

/// An input file, and how to report that it is damaged.
struct input_file {
  std::string_view name;  ///< for messages
  error_code damage;      ///< corrupt_object, …
  char const* hint;       ///< how to get an undamaged one
};

/// @throws format_error (stage input) "NAME: CAUSE, at byte OFFSET".
[[noreturn]] void refuse_damaged(input_file const& file, std::uint64_t offset,
                                 std::string const& cause);

/// As above, for an access past the end.
[[noreturn]] void refuse_truncated(input_file const& file, out_of_bytes const& end);

/// @throws format_error (stage input) "NAME: CAUSE", for a file that is not damaged.
[[noreturn]] void refuse_input(error_code code, std::string_view name, std::string const& cause,
                               std::string const& hint);

/// @throws format_error (stage input) corrupt-ptx: "NAME: its PTX CAUSE (line N)", the line of the
///   byte `offset` of `text`.
[[noreturn]] void refuse_ptx(std::string_view text, std::string_view name, std::size_t offset,
                             std::string const& cause);

}  // namespace fatlink::detail
