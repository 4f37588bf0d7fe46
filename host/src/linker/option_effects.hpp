// SPDX-License-Identifier: Apache-2.0
// Which option of link_options does something in which link. Source: measured with nvJitLink 13.0;
// tests/link/link_options_test.cpp pins the effects. Threads: no shared state.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

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

}  // namespace fatlink::detail
