// SPDX-License-Identifier: Apache-2.0
// The error of a file whose bytes are not what its format demands.
// Threads: values; copy and read freely.
#pragma once

#include <cstdint>
#include <utility>

#include "fatlink/error.hpp"
#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// A file that is not well-formed; `offset()` is the byte where reading stopped. Of a fatbin (stage
/// fatbin) the code is not_a_fatbin (the message names the format that the file has), empty_input,
/// corrupt_fatbin, digest_mismatch or above_limit (the message names the limit). Of an input of
/// another form (stage input) it is empty_input, unknown_form (the message names what the file is),
/// corrupt_ptx, corrupt_ltoir, corrupt_cubin, corrupt_object, corrupt_archive, thin_archive,
/// no_device_code, digest_mismatch or above_limit.
class format_error : public file_error {
 public:
  /// An error of a fatbin at byte `offset`.
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
