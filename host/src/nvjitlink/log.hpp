// SPDX-License-Identifier: Apache-2.0
// What nvJitLink writes to its logs and to standard error, line by line. Its status does not tell
// whether a link is right: a mismatched prototype is an error line of a link with status 0.
// Measured with nvJitLink 13.0 to 13.5.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fatlink::detail {

/// Whether `line` reports an error: it begins with `error` or `fatal` in any case, after blanks,
/// the mark `@E@` and the name of a tool ("ptxas fatal   : …").
bool is_error_line(std::string_view line);

/// Whether `line` is a progress report that is no warning: "SUCCESS: …" (13.4), "INFO: …" (13.5).
bool is_progress_line(std::string_view line);

/// The lines of `text` that are not empty.
std::vector<std::string> lines_of(std::string const& text);

/// The first error line of `text`; empty where there is none.
std::string first_error_line(std::string const& text);

}  // namespace fatlink::detail
