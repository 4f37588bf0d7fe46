// SPDX-License-Identifier: Apache-2.0
// The floating-point flags of device code. nvcc compiles them into PTX. LTO-IR uses the flags of
// the link instead, so a link must pass the flags that the entry records. They are recorded as text
// in the entry's options: "-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1" (observed with nvcc 13.0).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// nvcc's options for float arithmetic.
struct float_flags {
  bool ftz = false;       ///< -ftz: flush denormal numbers to zero
  bool prec_div = true;   ///< -prec-div: division rounds correctly
  bool prec_sqrt = true;  ///< -prec-sqrt: square roots round correctly
  bool fmad = true;       ///< -fmad: contract multiplication and addition

  /// Whether all flags are equal.
  friend bool operator==(float_flags const&, float_flags const&) = default;
};

/// Reads the flags from an entry's options text. Flags that it does not name keep nvcc's defaults.
/// If it names a flag twice, the last value counts. Every spelling of nvcc, NVRTC, nvJitLink and
/// nvFatbin is accepted: -prec_div=1, --prec-div=true, -fma=0, -use_fast_math.
float_flags parse_float_flags(std::string_view options) noexcept;

/// Whether the text names any of the flags. False for raw LTO-IR, which has no options.
bool states_float_flags(std::string_view options) noexcept;

/// The options in an LTO-IR entry's text that fatlink does not know, or whose values it does not
/// know. Any of them could be a float flag.
std::vector<std::string> unknown_options(std::string_view options);

/// The text form that entries record: "-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1".
std::string to_string(float_flags const& flags);

}  // namespace fatlink
