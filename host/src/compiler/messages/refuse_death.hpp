// SPDX-License-Identifier: Apache-2.0
// Turns the end of a compiler's process, or its lack of memory, into an error.
// Threads: no shared state.
#pragma once

#include <string>

#include "fatlink/compiler.hpp"
#include "link_helper/link_helper.hpp"

namespace fatlink::detail {

/// @throws compile_error (compile_memory) always. `name`: of the source.
[[noreturn]] void refuse_memory(std::string const& name, compiler_settings const& settings);

/// @throws compile_error (compile_timeout) always: the headers took all the time.
[[noreturn]] void refuse_slow_headers(std::string const& name, compiler_settings const& settings);

/// @throws compile_error always: compile_timeout; compile_memory, if the process had used most of
///   its memory limit; otherwise the code is the reason ("SIGSEGV").
[[noreturn]] void refuse_death(helper_death const& death, std::string const& name,
                               compiler_settings const& settings);

}  // namespace fatlink::detail
