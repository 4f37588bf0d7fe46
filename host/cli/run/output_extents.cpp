// SPDX-License-Identifier: Apache-2.0
#include "run/output_extents.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "options.hpp"

namespace fatlink::cli {
namespace {

std::string extents_text(std::vector<std::size_t> const& extents)
{
  return fmt::format("({})", fmt::join(extents, ", "));
}

}  // namespace

void check_extents(plan_argument const& output, host_array const& expected,
                   host_array const& actual)
{
  if (!output.length.empty()) return;
  auto const& name = output.name;
  if (actual.extents.size() == 1 ? expected.count() == actual.count()
                                 : expected.extents == actual.extents)
    return;
  fail_usage(fmt::format("--expect {}: the array has the shape {}, and the output has {}", name,
                         extents_text(expected.extents), extents_text(actual.extents)),
             name, "pass the expected result for these inputs and sizes");
}

output_verification refuse_length(host_array const& output)
{
  return {.method = "length",
          .elements = output.count(),
          .failures = 1,
          .component = "length",
          .expected = fmt::format("0 to {}", output.count()),
          .actual = output.wrong_length};
}

}  // namespace fatlink::cli
