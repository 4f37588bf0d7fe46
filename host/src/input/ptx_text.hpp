// SPDX-License-Identifier: Apache-2.0
// Reads the head of PTX text: .version, .target and .address_size, which begin every module.
// Comments may stand before and between them. Checks that the rest is PTX text.
// Source: PTX ISA 9.0, "PTX Module Directives".
// Threads: no shared state.
#pragma once

#include <cstdint>
#include <string_view>

#include "fatlink/bytes.hpp"
#include "fatlink/target.hpp"

namespace fatlink::detail {

struct ptx_text {
  std::string_view text = {};       ///< without trailing NULs; points into the bytes that were read
  std::uint16_t version_major = 0;  ///< of the PTX ISA: 9.0
  std::uint16_t version_minor = 0;  ///< see version_major
  fatlink::target target = {};      ///< of .target; with its suffix
};

/// The head of the PTX module in `bytes`. `name` is the file's, for messages. NULs at the end are
/// dropped: NVRTC and libNVVM end PTX with one.
/// @throws format_error (stage input) corrupt-ptx, with the line: a NUL or another control
/// character
///   inside, bytes that are not UTF-8, no .version, .target or .address_size 64, a body that is not
///   PTX text.
ptx_text read_ptx_text(bytes_view bytes, std::string_view name);

}  // namespace fatlink::detail
