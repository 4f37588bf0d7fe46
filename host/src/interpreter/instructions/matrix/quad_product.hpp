// SPDX-License-Identifier: Apache-2.0
// mma.m8n8k4 of f16: four products, each of 8 threads of the warp.
#pragma once

#include "interpreter/instructions/matrix/matrix_product.hpp"

namespace fatlink::interpreter {

/// Adds the operation. `a_by_rows`, `b_by_rows`: the layouts.
void emit_quad_product(decoding& d, matrix_product const& product, bool a_by_rows, bool b_by_rows);

}  // namespace fatlink::interpreter
