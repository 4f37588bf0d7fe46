// SPDX-License-Identifier: Apache-2.0
#include "live/watch/version_identity.hpp"

#include <algorithm>
#include <string_view>

#include "input/find_sidecar.hpp"

namespace fatlink::detail {
namespace {

std::string_view text_of(sidecar_ptr const& sidecar)
{
  return sidecar ? std::string_view(sidecar->text()) : std::string_view();
}

}  // namespace

version_identity::version_identity(std::vector<input> const& files, sidecars use)
{
  for (auto const& code : files) {
    files_.push_back({.digest = code.digest()});
    if (use == sidecars::these) files_.back().sidecar = text_of(sidecar_of(code));
  }
}

bool version_identity::is(std::vector<input> const& files) const
{
  return std::ranges::equal(files_, files, [](file const& known, input const& current) {
    return known.digest == current.digest() &&
           (!known.sidecar || *known.sidecar == text_of(sidecar_of(current)));
  });
}

}  // namespace fatlink::detail
