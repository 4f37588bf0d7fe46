// SPDX-License-Identifier: Apache-2.0
// What inputs call of each other, by their PTX for the newest target. Threads: immutable.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "fatlink/fatbin.hpp"
#include "preflight/rules.hpp"
#include "preflight/symbols.hpp"

namespace fatlink::detail {

class call_index {
 public:
  /// `inputs` must outlive the object.
  explicit call_index(std::span<fatbin const> inputs);

  /// Functions that `transform`, one of the inputs, defines and no other input calls.
  [[nodiscard]] std::vector<ptx_function> unused_functions(fatbin const& transform) const;

 private:
  using positions = std::map<ptx_interface const*, std::size_t>;

  static preflight_inputs describe(std::span<fatbin const> inputs, positions& places);

  positions positions_;
  preflight_inputs inputs_;
  symbol_index symbols_;
};

/// The names of `functions`, which must outlive the result.
std::vector<std::string_view> names_of(std::vector<ptx_function> const& functions);

}  // namespace fatlink::detail
