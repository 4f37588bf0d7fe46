// SPDX-License-Identifier: Apache-2.0
// The error of a header that the compiler did not find. Threads: no shared state.
#pragma once

#include <string>

#include "compiler/messages/compile_subject.hpp"
#include "vendor_compiler/program.hpp"

namespace fatlink::detail {

/// @throws compile_error (header_not_found) always: for the header `name`, which the log of
///   `product` states. `refusal`: why a file that is there was not read (header_files::refusal_of);
///   the error shows nothing of the log then.
[[noreturn]] void refuse_header(std::string const& name, compile_product const& product,
                                compile_subject const& subject, std::string const& refusal);

}  // namespace fatlink::detail
