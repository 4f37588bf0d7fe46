// SPDX-License-Identifier: Apache-2.0
// What a transform computes, by its own statement in its sidecar: for one hook in x:
//   {"name": "relu_poly", "summary": "max(0, x² + 3x − 1)", "hook": "user_transform",
//    "reference": "max(0, x*x + 3*x - 1)", "tolerance_ulp": 4}
// or for any hooks:
//   {"name": "scaled_load", "summary": "scale * x",
//    "hooks": {"load": {"parameters": ["x", "index"], "result": "state.scale * x",
//                       "type": "float32",
//                       "tolerance": {"ulp": 2, "absolute": 0, "relative": 0, "operands": 0}}},
//    "state": [{"name": "scale", "type": "float32", "default": 2}],
//    "element": [{"name": "value", "type": "float32"}, {"name": "index", "type": "int32"}],
//    "error_model": "additive"}
// "parameters" names what a plan's `computes` passes to the hook, in that order. "result" is an
// expression in the names, fields of them ("a.value", "z.real") and fields of the state, or, for
// structs and complex numbers, an object with one expression for each field. "type" is that of the
// hook's result, for hooks inside of others. docs/verification.md has the rules.
// Threads: values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fatlink/element_type.hpp"
#include "fatlink/input.hpp"
#include "plan/bind_types.hpp"

namespace fatlink {

/// How errors of single calls of a hook add up in folds and scans.
enum class error_model : std::uint8_t {
  none,      ///< not stated: folds of floats cannot be verified
  exact,     ///< the hook returns one of its operands
  additive,  ///< the result is a sum of the operands
  relative,  ///< the result is a product of the operands
};
/// "none", "exact", "additive", "relative".
char const* to_string(error_model model) noexcept;

/// The largest "ulp" that a sidecar may state.
constexpr double k_most_tolerance_ulp = 1U << 20U;

/// How far a result may be from the expression: the largest of the four.
struct hook_tolerance {
  double ulp = 0;       ///< spacings of the result's type; of an integer: 1 each
  double absolute = 0;  ///< in the unit of the result
  double relative = 0;  ///< of the expected value
  double operands = 0;  ///< of the largest magnitude among the floats that the expression names
};

/// An expression for one number of a result.
struct result_expression {
  std::string field = {};  ///< "value", "real", "value.imag"; empty: the result is one number
  std::string text = {};
};

/// What a hook computes.
struct hook_reference {
  std::string hook = {};
  std::vector<std::string> parameters = {};
  std::vector<result_expression> result = {};
  std::optional<element_type> type = {};  ///< of the result
  hook_tolerance tolerance = {};
};

struct transform_reference {
  std::string name = {};
  std::string summary = {};
  std::vector<hook_reference> hooks = {};  ///< sorted by name
  detail::transform_types types = {};      ///< element and state
  error_model model = error_model::none;
  bool states_hooks = false;  ///< whether the file has the form with "hooks"
  std::string file = {};      ///< the file that it was read from, for messages
  std::string subject = {};   ///< the file that it describes, as beside() got it; else empty

  /// Reads and checks a sidecar of either form. Members of other meaning, such as "sha256", are
  /// ignored; unknown ones within "hooks" are not.
  /// @throws file_error names the file, the member, the cause and the remedy: a missing or
  ///   unknown member, one of the wrong type, members of both forms, an expression that does not
  ///   parse or has unknown names, a tolerance that is negative or so large that it would verify
  ///   anything.
  static transform_reference read(std::filesystem::path const& path);

  /// Reads a REFERENCE of fatlink_add_fatbin. As read(), but refuses unknown members, and members
  /// that are stated twice. Nothing where the file has at most "name" and "summary".
  /// `allows_digest`: it may be the sidecar of a product, with "sha256". @throws file_error as
  /// read().
  static std::optional<transform_reference> read_source(std::filesystem::path const& path,
                                                        bool allows_digest = false);

  /// Reads the sidecar of `file`, which input::read describes; of a source (.cu, .ll, .bc) as
  /// strictly as read_source(), but with a launch plan or a digest. Nothing where there is no
  /// sidecar, or it states none of hooks, element and state. @throws file_error as read().
  static std::optional<transform_reference> beside(std::filesystem::path const& file);

  /// As above, of the sidecar that `file` was read with, as launch_plan::beside.
  static std::optional<transform_reference> beside(input const& file);

  /// What this transform states of `hook`; null if nothing.
  [[nodiscard]] hook_reference const* find(std::string const& hook) const noexcept;
};

}  // namespace fatlink
