// SPDX-License-Identifier: Apache-2.0
// The lines of a compiler's log, "half.cu(3): error: …", and the files that they name.
// Threads: no shared state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/messages/compile_subject.hpp"

namespace fatlink::detail {

/// The lines of `text`, without their ends; they point into it.
std::vector<std::string_view> lines_of(std::string_view text);

/// The message of a line that states a catastrophic error, which ends a compile; empty if it does
/// not. The name of the file before it may be any text, by #line. Lines of the source, which the
/// log shows indented, do not.
std::string_view catastrophe_of(std::string_view line);

/// "src/half.cu:3: error: …" of "half.cu(3): error: …"; of a header, its file.
std::string with_user_name(std::string_view line, compile_subject const& subject);

/// "src/half.cu:3" of the catastrophic error of a log; of line 0, which the host states, the file.
std::string place_of_catastrophe(std::string_view log, compile_subject const& subject);

/// `log` with the files of headers instead of the names by which the compiler knows them.
std::string with_header_files(std::string_view log, compile_subject const& subject);

/// The name of the file in "could not open source file "NAME"" of the log; empty if there is none.
std::string missing_header_of(std::string_view log);

}  // namespace fatlink::detail
