// SPDX-License-Identifier: Apache-2.0
// The error for a file whose bytes violate its format.
// Threads: exceptions are value types; any thread may copy and read them.
#pragma once

#include <cstdint>
#include <utility>

#include "fatlink/error.hpp"
#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// A file is not well-formed; `offset()` is the byte at which reading stopped. For a fatbin (stage
/// fatbin) the code is one of: not_a_fatbin (the message names the file's actual format),
/// empty_input, corrupt_fatbin, digest_mismatch, above_limit (the message names the limit). For an
/// input of another form (stage input) it is one of: empty_input, unknown_form (the message names
/// what the file is), corrupt_ptx, corrupt_ltoir, corrupt_cubin, corrupt_object, corrupt_archive,
/// thin_archive, no_device_code, digest_mismatch, above_limit.
class format_error : public file_error {
 public:
  /// An error in a fatbin at byte `offset`.
  format_error(std::uint64_t offset, error_details details)
      : format_error(stage::fatbin, offset, std::move(details))
  {
  }
  /// An error of the stage `origin` at byte `offset`.
  format_error(stage origin, std::uint64_t offset, error_details details);
  /// The byte at which reading stopped.
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }

 private:
  std::uint64_t offset_;
};

}  // namespace fatlink
