// SPDX-License-Identifier: Apache-2.0
// The errors of a set of headers (header_set). Threads: no shared state.
#pragma once

#include <string>

namespace fatlink::detail {

/// `cause`: "more than 256 MiB". @throws file_error (above_limit) always.
[[noreturn]] void refuse_above_limit(std::string const& cause);

/// @throws file_error (invalid_source) always: the header `name` has a NUL byte.
[[noreturn]] void refuse_nul(std::string const& name);

/// @throws compile_error (header_not_found) always: a macro in `owner` names `spelled`, for which
/// the set has another file than the one beside `owner`.
[[noreturn]] void refuse_two_meanings(std::string const& spelled, std::string const& owner);

/// @throws compile_error (above_limit) always: `text` of a condition may name more headers than the
/// limits of macro_expander.
[[noreturn]] void refuse_unresolved(std::string const& text);

}  // namespace fatlink::detail
