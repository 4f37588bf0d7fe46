// SPDX-License-Identifier: Apache-2.0
// The reference of a transform: its own statement of what it computes, from the sidecar (the .json
// beside its fatbin):
//   {"name": "relu_poly", "summary": "max(0, x² + 3x − 1)", "hook": "user_transform",
//    "reference": "max(0, x*x + 3*x - 1)", "tolerance_ulp": 4}
// The expression is in x, evaluated in double; docs/expressions.md describes the language and its
// functions. min and max of a NaN are NaN. A tolerance is at most 2^20 ulp: a larger one would
// accept any result. Threads: a reference is a value; each evaluator() is used by one thread at a
// time.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "fatlink/error.hpp"
#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// What a transform computes, and how exactly.
struct reference {
  std::string name = {};        ///< the transform's name
  std::string summary = {};     ///< what it computes, for people
  std::string hook = {};        ///< the function that it describes
  std::string expression = {};  ///< in x
  double tolerance_ulp = 0;     ///< how far results may differ from the expression
  std::string file = {};        ///< the file that it was read from, for messages

  /// Reads and checks a sidecar: every field is present and of its type, the tolerance is at most
  /// 2^20 ulp, and the expression can be evaluated.
  /// @throws file_error names the file, the field and the remedy.
  static reference read(std::filesystem::path const& path);

  /// Reads the sidecar of `file`, which input::read describes. Nothing where there is no sidecar,
  /// or it states no reference of this form. @throws file_error as read().
  static std::optional<reference> beside(std::filesystem::path const& file);

  /// A function that sets expected[i] = f(values[i]); for one thread at a time.
  /// @throws file_error the expression cannot be evaluated; read() finds that.
  [[nodiscard]] std::function<void(std::span<float const> values, std::span<double> expected)>
  evaluator() const;
};

}  // namespace fatlink
