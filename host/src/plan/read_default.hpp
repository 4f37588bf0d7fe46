// SPDX-License-Identifier: Apache-2.0
// "default" of a value or size. Threads: no shared state.
#pragma once

#include <string>

#include "fatbin/json_file.hpp"
#include "fatlink/launch_plan.hpp"

namespace fatlink::detail {

/// plan_argument::default_value: the JSON text of a whole number in range (sizes and integers), a
/// number, "inf", "-inf" or "nan" in quotes (floating point), an array of two numbers or a number
/// (complex), or an object with one of these for each field (structs). Of the type that a transform
/// binds, any of these. @throws file_error it is none of them, or `argument` is of bytes without
/// meaning.
std::string read_default(json_place const& place, plan_argument const& argument);

}  // namespace fatlink::detail
