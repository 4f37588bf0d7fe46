// SPDX-License-Identifier: Apache-2.0
// Turns failures of the interpreter into errors of fatlink. Threads: safe.
#pragma once

#include "interpreter/decode/failure.hpp"

namespace fatlink::detail {

/// @throws file_error, link_error, unavailable_error or device_error, by the kind of `failure`,
///   with its code and hint.
[[noreturn]] void throw_error(interpreter::failure const& failure);

/// The result of `call()`; an interpreter::failure is thrown as an error of fatlink.
template <typename Call>
decltype(auto) translate_failures(Call const& call)
try {
  return call();
} catch (interpreter::failure const& failure) {
  throw_error(failure);
}

}  // namespace fatlink::detail
