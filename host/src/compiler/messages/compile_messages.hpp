// SPDX-License-Identifier: Apache-2.0
// Reads a compiler's log, and turns a failed compile into an error that names the user's line.
// Threads: no shared state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/messages/compile_log.hpp"
#include "compiler/messages/compile_subject.hpp"
#include "vendor_compiler/program.hpp"

namespace fatlink::detail {

/// The first line of `log` that states an error: "half.cu(3): error: …"; empty if there is none.
std::string first_compile_error(std::string_view log);

/// Whether the compiler gave up because it got no more memory.
bool is_out_of_memory(compile_product const& product);

/// The lines of the logs that state warnings, each once, as the compiler names the file; at most
/// 100, then how many more there are.
std::vector<std::string> compile_warnings(std::vector<compile_product> const& products);

/// A line of compile_warnings() with the file's name as the user gave it; of a header, its file.
std::string named_warning(std::string const& warning, compile_subject const& subject);

/// @throws compile_error (compile_failed, header_not_found) or unavailable_error (an architecture
///   that the compiler does not know), for a product that failed. `refusal`: why a file that is
///   there was not read (header_files::refusal_of).
[[noreturn]] void refuse_product(compile_product const& product, compile_subject const& subject,
                                 std::string const& refusal, std::string const& producer);

}  // namespace fatlink::detail
