// SPDX-License-Identifier: Apache-2.0
// A transform's own statement of what it computes, from the .json beside its fatbin:
//   {"name": "relu_poly", "summary": "max(0, x² + 3x − 1)", "hook": "user_transform",
//    "reference": "max(0, x*x + 3*x - 1)", "tolerance_ulp": 4}
// The expression is in x, evaluated in double with muParser and its functions, and pi, pow, exp2,
// expm1, log1p, cbrt, hypot, atan2, erf, erfc, lgamma, tgamma, fma, fmod, remainder, signbit,
// floor, ceil, trunc, round, and f32, f16, bf16, which round to the nearest value of that type.
// NaN goes through min and max. A tolerance is at most 2^20 ulp: a larger one would verify
// anything. Threads: a reference is a value; evaluators() are one thread's each.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "fatlink/error.hpp"
#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

struct reference {
  std::string name = {};
  std::string summary = {};
  std::string hook = {};
  std::string expression = {};
  double tolerance_ulp = 0;
  std::string file = {};  ///< where it was read, for messages

  /// Reads and checks a .json: every field present, of its type, the tolerance at most 2^20 ulp,
  /// the expression parses.
  /// @throws file_error names the file, the field and the remedy.
  static reference read(std::filesystem::path const& path);

  /// Reads a REFERENCE of fatlink_add_fatbin, as read() does, and refuses every key that a .json
  /// does not have, and "sha256", which the build adds. Nothing where it states a "name" or a
  /// "summary" alone. @throws file_error as read().
  static std::optional<reference> read_source(std::filesystem::path const& path);

  /// Reads the .json with the stem of `fatbin`, beside it; nothing when there is none.
  static std::optional<reference> beside(std::filesystem::path const& fatbin);

  /// A function that fills expected[i] = f(values[i]); for use by one thread.
  [[nodiscard]] std::function<void(std::span<float const> values, std::span<double> expected)>
  evaluator() const;
};

}  // namespace fatlink
