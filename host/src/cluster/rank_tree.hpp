// SPDX-License-Identifier: Apache-2.0
// Which rank links for which, and how an image reaches the ranks that need it: from the lowest rank
// of each group through a binomial tree, so that the rank that links sends it log n times, not n.
// Threads: no shared state.
#pragma once

#include <vector>

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

/// What a rank does in a group: receives the image from its parent, sends it to its children.
struct tree_role {
  unsigned parent = 0;  ///< of the rank that links: the rank itself
  unsigned depth = 0;   ///< how many ranks are above it; 0 of the rank that links
  std::vector<unsigned> children = {};
};

/// The roles of all ranks, of which rank i needs the link of `keys[i]`.
std::vector<tree_role> assign_roles(std::vector<digest256> const& keys);

}  // namespace fatlink::detail
