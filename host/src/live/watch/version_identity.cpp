// SPDX-License-Identifier: Apache-2.0
#include "live/watch/version_identity.hpp"

#include <algorithm>

namespace fatlink::detail {

version_identity::version_identity(std::vector<input> const& inputs)
{
  for (auto const& code : inputs) files_.push_back({.digest = code.digest()});
}

version_identity::version_identity(std::vector<complete_file> const& files)
{
  for (auto const& each : files) files_.push_back({each.code.digest(), each.sidecar});
}

bool version_identity::is(std::vector<complete_file> const& files) const
{
  return std::ranges::equal(files_, files, [](file const& known, complete_file const& current) {
    return known.digest == current.code.digest() &&
           (!known.sidecar || *known.sidecar == current.sidecar);
  });
}

}  // namespace fatlink::detail
