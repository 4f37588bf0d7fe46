// SPDX-License-Identifier: Apache-2.0
// The options that nvJitLink gets for a link; which option of link_options does something in which
// link, and which options of ptxas and libNVVM are passed on. Source: measured with nvJitLink 13.0;
// tests/link/link_options_test.cpp pins the effects. Threads: no shared state.
//
// link_options::ptxas and ::nvvm are passed on as they are. What is not listed is refused: among
// the options of ptxas are some that make an image that no GPU loads (--compile-only,
// --extensible-whole-program), drop kernels, replace the PTX (--input-as-string), read files, or
// print to standard output and end.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/error.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/float_flags.hpp"
#include "fatlink/link_options.hpp"

namespace fatlink::detail {

/// What is linked to what: the columns of the table. A new link mode is one more column.
enum class link_kind { lto_cubin, lto_ptx, ptx_cubin, ptx_set, sass, lto_ltoir };
constexpr std::size_t k_link_kinds = 6;

/// The kind of link that has this mode and emits this kind of image.
link_kind link_kind_of(link_mode mode, image_kind emit) noexcept;

/// One option of link_options.
struct option_effect {
  std::string_view field;                     ///< "link_options::max_registers"
  std::array<bool, k_link_kinds> has_effect;  ///< by link_kind
  bool (*is_set)(link_options const&);        ///< whether it differs from its default

  /// Whether it does something in a link of `kind`.
  [[nodiscard]] bool in(link_kind kind) const noexcept
  {
    return has_effect[static_cast<std::size_t>(kind)];
  }
};

/// Every option but target, mode and emit, in the order of link_options.
std::span<option_effect const> option_effects() noexcept;

/// @throws usage_error (option_has_no_effect) an option that is set does nothing in this link.
void check_effects(link_options const& options);

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

/// For a failed link of which a raw option is the cause, not an input: the option is allowed, but
/// this nvJitLink, older or newer than the one that was measured, does not know it.
/// `failure` with a message and a hint about the option of link_options::ptxas or ::nvvm that its
/// log names in a line about options; unchanged if there is none.
error_details name_refused_option(error_details failure, link_options const& options);

/// The float flags that an lto link compiles with: those that the inputs record, or `options`.
float_flags linked_float_flags(std::vector<fatbin> const& inputs, link_options const& options);

/// The options that state the image, which are part of the cache key (link_key.cpp):
/// the architecture; in lto mode the float flags, which `options` overrides or the inputs record;
/// and what else `options` sets. `options`: as check_link_options accepts them.
std::vector<std::string> image_options(std::vector<fatbin> const& inputs,
                                       link_options const& options);

/// All options of the link, one text each: those that state the image, threads and the driver's
/// cache. In a fixed order: nvJitLink writes the options of ptxas into the cubin, so their order is
/// part of its bytes.
std::vector<std::string> nvjitlink_options(std::vector<fatbin> const& inputs,
                                           link_options const& options);

}  // namespace fatlink::detail
