// SPDX-License-Identifier: Apache-2.0
// The error objects of the C interface, and how exceptions become one.
// Threads: values.
#pragma once

#include <optional>
#include <vector>

#include "fatlink/c/error.h"
#include "fatlink/preflight.hpp"

/// Findings with their files as C takes them.
struct fatlink_findings {
  explicit fatlink_findings(std::vector<fatlink::finding> findings);

  std::vector<fatlink::finding> list;
  std::vector<std::vector<char const*>> files;  ///< of each finding; point into `list`
};

/// Points to its texts, so that the error of a host without memory needs none.
struct fatlink_error {
  fatlink_error_kind kind = FATLINK_ERROR_DEFECT;
  char const* stage = "";
  char const* code = "";
  char const* message = "";
  char const* input = "";
  char const* hint = "";
  char const* log = "";
  fatlink_findings const* findings = nullptr;
};

namespace fatlink::c {

/// The error that describes the exception that is being handled.
fatlink_error* current_error() noexcept;

}  // namespace fatlink::c
