// SPDX-License-Identifier: Apache-2.0
// Checks link_options::ptxas and ::nvvm, which nvJitLink passes on as they are. What is not listed
// here is refused: among the options of ptxas are some that make an image that no GPU loads
// (--compile-only, --extensible-whole-program), drop kernels, replace the PTX (--input-as-string),
// read files, or print to standard output and end. Threads: no shared state.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fatlink/link_options.hpp"

namespace fatlink::detail {

/// An option that is passed on. It is spelled as one of its names, in full: ptxas knows no
/// abbreviations, two dashes only before the long name and one before the short one.
struct raw_option {
  std::string_view name;        ///< with its dashes
  std::string_view short_name;  ///< with its dash; may be that of `name`
  std::string_view words = {};  ///< the values, separated by '|'
  unsigned least = 0;           ///< of a number
  unsigned most = 0;            ///< 0: the option takes no number
  std::size_t numbers = 1;      ///< how many numbers it takes at most, separated by commas
};

/// The options of ptxas that change code or messages only, in alphabetical order.
std::span<raw_option const> allowed_ptxas_options() noexcept;
/// The documented options of libNVVM that change code only, and that link_options has no field for.
std::span<raw_option const> allowed_nvvm_options() noexcept;

/// "--def-load-cache=ca|cg|cs|lu|cv"
std::string to_string(raw_option const& option);

/// The name of an option without its value: "--def-load-cache".
std::string_view name_of_option(std::string_view option) noexcept;

/// @throws usage_error (invalid_argument) an option that is not allowed, or has a value that is not
///   allowed; one that does not begin with a dash, holds a space or a control character, or is too
///   long; or too many of them.
void check_raw_options(link_options const& options);

}  // namespace fatlink::detail
