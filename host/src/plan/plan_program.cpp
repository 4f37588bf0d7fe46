// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_program.hpp"

#include <map>
#include <mutex>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "plan/bind_types.hpp"
#include "plan/check_plan.hpp"
#include "plan/components.hpp"
#include "plan/plan_formulas.hpp"
#include "util/text/format.hpp"
#include "util/text/json.hpp"

namespace fatlink::detail {
namespace {

launch_plan checked(launch_plan plan)
{
  require_types(plan);
  return plan;
}

std::vector<untyped_kernel> kernels_of(loaded_module const& module, launch_plan const& plan)
{
  std::vector<untyped_kernel> kernels;
  for (auto const& launch : plan.launches) kernels.push_back(module.find_kernel(launch.kernel));
  return kernels;
}

/// @throws refused_error a launch does not pass what its kernel takes: the driver would read beyond
///   what is passed.
void check_parameters(launch_plan const& plan, std::vector<untyped_kernel> const& kernels)
{
  std::vector<finding> findings;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (auto found = check_loaded_launch(plan, i, kernels[i].parameter_sizes()))
      findings.push_back(std::move(*found));
  if (!findings.empty())
    throw refused_error(std::move(findings), detail::format("run plan {}", plan.name));
}

/// Asks the driver once for each shape of block.
class remembered_occupancy {
 public:
  remembered_occupancy(std::vector<plan_launch> const& launches,
                       std::vector<untyped_kernel> const& kernels)
  {
    for (std::size_t i = 0; i < launches.size(); ++i)
      kernels_.emplace(launches[i].kernel, kernels[i]);
  }

  std::int64_t operator()(std::string const& kernel, unsigned threads, std::size_t shared_bytes)
  {
    std::lock_guard const lock(mutex_);
    auto const key = std::tuple(std::string_view(kernel), threads, shared_bytes);
    if (auto const place = blocks_.find(key); place != blocks_.end()) return place->second;
    auto const entry = kernels_.find(kernel);
    auto const blocks = entry->second.active_blocks_per_multiprocessor(threads, shared_bytes);
    blocks_.emplace(std::tuple(std::string_view(entry->first), threads, shared_bytes), blocks);
    return blocks;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, untyped_kernel> kernels_;
  std::map<std::tuple<std::string_view, unsigned, std::size_t>, std::int64_t> blocks_;
};

device_facts facts_of(device const& destination, launch_plan const& plan,
                      std::vector<untyped_kernel> const& kernels)
{
  auto const occupancy = std::make_shared<remembered_occupancy>(plan.launches, kernels);
  auto const& info = destination.info();
  return {.multiprocessors = info.multiprocessors,
          .shared_memory = static_cast<std::int64_t>(info.max_shared_bytes_per_block),
          .occupancy = [occupancy](std::string const& kernel, unsigned threads,
                                   std::size_t shared_bytes) {
            return (*occupancy)(kernel, threads, shared_bytes);
          }};
}

std::vector<std::byte> default_of(launch_plan const& plan, std::size_t index)
try {
  auto const& argument = plan.arguments[index];
  if (!argument.default_value || argument.role == argument_role::input) return {};
  return encode_value(*argument.type, *parse_document(*argument.default_value));
} catch (std::invalid_argument const& cause) {
  fail_plan(plan.file, detail::format("arguments[{}].default", index), cause.what(),
            "state a value of the argument's type");
}

std::optional<std::size_t> only_size(plan_formulas const& formulas, std::size_t argument)
{
  auto const& shape = formulas.shapes[argument];
  if (shape.size() != 1 || shape[0].uses().size() != 1) return {};
  auto const used = shape[0].uses()[0];
  if (used < plan_formulas::k_first_size || used >= formulas.first_let()) return {};
  return used - plan_formulas::k_first_size;
}

}  // namespace

plan_program::plan_program(device const& destination, launch_plan bound, linked_image linked)
    : backend(destination.backend()),
      image(std::move(linked)),
      formulas(checked(std::move(bound))),
      range_name("run " + formulas.plan.name),
      module(destination.load(image)),
      kernels(kernels_of(module, formulas.plan)),
      facts(facts_of(destination, formulas.plan, kernels)),
      size_numbers(formulas.plan.arguments.size())
{
  check_parameters(formulas.plan, kernels);
  for (std::size_t i = 0; i < formulas.plan.arguments.size(); ++i)
    defaults.push_back(default_of(formulas.plan, i));
  for (std::size_t i = 0; i < formulas.sizes.size(); ++i) size_numbers[formulas.sizes[i]] = i;
  for (std::size_t i = 0; i < formulas.plan.arguments.size(); ++i)
    extent_sizes.push_back(only_size(formulas, i));
}

std::optional<std::size_t> plan_program::find(std::string_view name) const noexcept
{
  auto const& arguments = formulas.plan.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].name == name) return i;
  return std::nullopt;
}

bool plan_program::is_array(std::size_t index) const noexcept
{
  auto const role = argument(index).role;
  return role == argument_role::input || role == argument_role::output ||
         role == argument_role::scratch;
}

bool plan_program::has_scratch() const noexcept
{
  for (auto const& argument : formulas.plan.arguments)
    if (argument.role == argument_role::scratch) return true;
  return false;
}

}  // namespace fatlink::detail
