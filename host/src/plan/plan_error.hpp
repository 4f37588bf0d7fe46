// SPDX-License-Identifier: Apache-2.0
// Errors in the file of a launch plan. Threads: no shared state.
#pragma once

#include <string>

#include "expression/words.hpp"

namespace fatlink::detail {

/// @throws file_error (stage sidecar, code invalid-plan) "FILE: PATH: CAUSE"; `path` is within the
///   JSON ("launches[0].grid"), empty for the whole.
[[noreturn]] void fail_plan(std::string const& file, std::string const& path,
                            std::string const& cause, std::string hint);

/// As above, for `error` in the formula `text`: 'FILE: PATH: "n / 0": CAUSE'.
[[noreturn]] void fail_formula(std::string const& file, std::string const& path,
                               std::string const& text, expression_error const& error);

}  // namespace fatlink::detail
