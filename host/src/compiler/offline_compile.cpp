// SPDX-License-Identifier: Apache-2.0
#include "compiler/offline_compile.hpp"

#include <string>
#include <vector>

#include "cache/offline.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

std::string describe_conditions(compile_inputs const& inputs)
{
  std::string text;
  auto const add = [&](std::vector<target> const& targets, char const* before) {
    for (auto const& architecture : targets)
      text += (&architecture == &targets.front() ? before : ", ") + architecture.name();
  };
  add(inputs.options.architectures, " for ");
  add(inputs.options.sass, " with SASS for ");
  if (inputs.contract) text += " with the contract " + inputs.contract->title();
  return text;
}

}  // namespace

void refuse_compile_offline(std::shared_ptr<link_cache> const& cache, compile_inputs const& inputs)
{
  auto const& name = inputs.subject.name;
  auto const conditions = describe_conditions(inputs);
  if (!inputs.is_cuda())
    cache::refuse_offline(
        stage::compiler, format("no cache layer can have compiled LLVM IR: {}{}", name, conditions),
        name, "compile it before, on a machine with libNVVM: fatlink compile; and pass the fatbin");
  auto hint = cache::describe_layer();
  if (!cache) hint = "<set compiler_settings::cache>; " + hint;
  cache::refuse_offline(
      stage::compiler,
      format("{} the compiled source {}{}", cache::describe_miss(cache), name, conditions), name,
      std::move(hint));
}

}  // namespace fatlink::detail
