// SPDX-License-Identifier: Apache-2.0
// Classifies the lines that nvJitLink writes to its logs and to standard error. Its result code is
// not enough: a mismatched prototype is an error line of a link that returns success.
// Measured with nvJitLink 13.0 to 13.5.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fatlink::detail {

/// Whether `line` reports an error: it begins with `error` or `fatal` in any case, after blanks,
/// the mark `@E@`, the name of a tool ("ptxas fatal   : …") and the place in PTX ("ptxas
/// application ptx input, line 25; error   : …").
bool is_error_line(std::string_view line);

/// Whether `line` reports progress and is not a warning: "SUCCESS: …" (13.4), "INFO: …" (13.5).
bool is_progress_line(std::string_view line);

/// The lines of `text` that are not empty.
std::vector<std::string> lines_of(std::string const& text);

/// The first error line of `text`; empty if there is none.
std::string first_error_line(std::string const& text);

/// The name in single quotes after `text`, which ends with the first quote; empty where `line` does
/// not hold `text`.
std::string quoted_after(std::string_view line, std::string_view text);

}  // namespace fatlink::detail
