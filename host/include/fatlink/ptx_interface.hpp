// SPDX-License-Identifier: Apache-2.0
// What a PTX module offers and asks for: kernels (.entry), definitions (.visible .func with a
// body) and hooks (.extern .func without one). LTO-IR cannot be read, but nvcc writes the same
// interface into its PTX sibling, so this describes both.
// Reads declarations only, never instructions. Source: PTX ISA 9.0, "Directives".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fatlink/error.hpp"
#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// One parameter or result as PTX declares it: `.param .align 8 .b8 p[16]` is
/// {"b8", 8, 16}, `.param .b32 p` is {"b32", 0, 0}. A `.b32` may be float or int.
struct ptx_parameter {
  std::string type;         ///< without the dot
  unsigned align = 0;       ///< bytes, 0 when not stated
  unsigned long count = 0;  ///< array elements, 0 for a scalar

  friend bool operator==(ptx_parameter const&, ptx_parameter const&) = default;
};

struct ptx_function {
  std::string name;
  std::vector<ptx_parameter> results;  ///< none or one
  std::vector<ptx_parameter> parameters;
};

/// "(b32) user_transform(b32)", "apply_transform(b64, b64, b64)".
std::string to_string(ptx_function const& function);

struct ptx_interface {
  std::vector<ptx_function> kernels;      ///< .entry
  std::vector<ptx_function> definitions;  ///< .visible .func with a body
  std::vector<ptx_function> weak;         ///< .weak .func with a body: may be defined twice
  std::vector<ptx_function> hooks;        ///< .extern .func never defined in this module
  std::vector<std::string> variables;     ///< .visible .global, .const and .shared
};

/// @throws file_error (stage fatbin) text that is no PTX; names `name` and the line.
ptx_interface read_ptx_interface(std::string_view ptx, std::string_view name = "ptx");

}  // namespace fatlink
