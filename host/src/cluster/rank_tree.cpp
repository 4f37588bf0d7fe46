// SPDX-License-Identifier: Apache-2.0
#include "cluster/rank_tree.hpp"

#include <bit>
#include <cstddef>
#include <map>

namespace fatlink::detail {
namespace {

/// The role of member `index` of a group. The parent of an index is the index without its lowest
/// bit that is set, that of 0 is 0; the largest subtree comes first.
tree_role role_of(std::size_t index, std::vector<unsigned> const& members)
{
  tree_role role{.parent = members[index & (index - 1)],
                 .depth = static_cast<unsigned>(std::popcount(index))};
  auto const limit = index == 0 ? std::bit_ceil(members.size()) : index & (~index + 1);
  for (auto distance = limit / 2; distance > 0; distance /= 2)
    if (index + distance < members.size()) role.children.push_back(members[index + distance]);
  return role;
}

}  // namespace

std::vector<tree_role> assign_roles(std::vector<digest256> const& keys)
{
  std::map<digest256, std::vector<unsigned>> groups;
  for (unsigned rank = 0; rank < keys.size(); ++rank) groups[keys[rank]].push_back(rank);
  std::vector<tree_role> roles(keys.size());
  for (auto const& group : groups)
    for (std::size_t index = 0; index < group.second.size(); ++index)
      roles[group.second[index]] = role_of(index, group.second);
  return roles;
}

}  // namespace fatlink::detail
