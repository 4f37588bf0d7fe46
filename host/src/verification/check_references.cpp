// SPDX-License-Identifier: Apache-2.0
#include "verification/check_references.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "fatlink/error.hpp"
#include "verification/plan_reference.hpp"

namespace fatlink::detail {
namespace {

/// Arrays of zeros for the typed arguments of a plan: of one element, of offsets of one segment.
class zeros {
 public:
  explicit zeros(launch_plan const& plan)
  {
    for (auto const& argument : plan.arguments)
      if (argument.type) bytes_[argument.name].resize(2 * argument.type->size);
    for (auto const& argument : plan.arguments)
      if (argument.type) data_.arguments[argument.name] = view(argument, 1);
    for (auto const& result : plan.results)
      if (result.value.kind == operation::segmented_fold && result.value.operands.size() > 1)
        if (auto const* const offsets = plan.find(result.value.operands[1].name);
            offsets != nullptr && offsets->type)
          data_.arguments[offsets->name] = view(*offsets, 2);
  }

  [[nodiscard]] plan_data const& data() const noexcept { return data_; }

 private:
  [[nodiscard]] array_view view(plan_argument const& argument, std::size_t count) const
  {
    return {.type = *argument.type,
            .bytes = std::span(bytes_.at(argument.name)).first(count * argument.type->size)};
  }

  std::map<std::string, std::vector<std::byte>> bytes_ = {};
  plan_data data_ = {};
};

finding mismatch(launch_plan const& plan, file_error const& cause)
{
  return {.id = finding_id::plan_mismatch,
          .severity = severity::error,
          .files = {cause.details().input, plan.file},
          .message = cause.details().message,
          .hint = cause.details().hint};
}

}  // namespace

std::vector<finding> check_references(launch_plan const& plan,
                                      std::vector<transform_reference> const& references)
{
  std::vector<finding> findings;
  zeros const arrays(plan);
  plan_reference const reference(plan, references, arrays.data());
  for (auto const& result : plan.results) try {
      auto const output = arrays.data().arguments.find(result.output);
      if (output == arrays.data().arguments.end()) continue;
      (void)reference.verify(result.output, output->second);  // only what it throws matters
    } catch (file_error const& cause) {
      auto problem = mismatch(plan, cause);
      if (std::ranges::find(findings, problem.message, &finding::message) == findings.end())
        findings.push_back(std::move(problem));
    }
  return findings;
}

}  // namespace fatlink::detail
