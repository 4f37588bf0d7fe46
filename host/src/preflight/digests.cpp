// SPDX-License-Identifier: Apache-2.0
// Finds inputs whose damage would not be noticed.
#include "preflight/rules.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {

void check_digests(preflight_inputs const& inputs, std::vector<finding>& findings)
{
  for (auto const& input : inputs) {
    if (input.file->is_verified()) continue;
    auto const& name = input.file->name();
    findings.push_back(
        {.id = finding_id::unverified_bytes,
         .severity = severity::warning,
         .files = {name},
         .message = detail::format(
             "{} states no digest: damage that can still be read would go unnoticed", name),
         .hint = detail::format("build it with fatlink_add_fatbin, or add digests to a copy that "
                                "is known to be good: fatlink pack -o FILE.fatbin {}",
                                name)});
  }
}

}  // namespace fatlink::detail
