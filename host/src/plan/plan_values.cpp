// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_values.hpp"

#include <algorithm>
#include <limits>

#include "fatlink/error.hpp"
#include "plan/launch_limits.hpp"
#include "plan/plan_error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// ", with n = 5, k = 0".
std::string describe_sizes(plan_formulas const& formulas, plan_values const& values)
{
  std::string text;
  for (std::size_t i = 0; i < formulas.sizes.size(); ++i)
    text += detail::format("{} {} = {}", text.empty() ? ", with" : ",",
                           formulas.names[plan_formulas::k_first_size + i],
                           values.values[plan_formulas::k_first_size + i]);
  return text;
}

/// Whether `each` uses a value that is `marked`.
bool uses_any(formula const& each, std::vector<bool> const& marked)
{
  return std::ranges::any_of(each.uses(), [&](std::size_t index) { return marked[index]; });
}

/// Of each value, whether it depends on the device.
std::vector<bool> values_of_device(plan_formulas const& formulas)
{
  std::vector<bool> marked(formulas.names.size());
  marked[plan_formulas::k_multiprocessors] = true;
  marked[plan_formulas::k_shared_memory] = true;
  for (auto const index : formulas.order)
    marked[index] = index >= formulas.first_occupancy() ||
                    uses_any(formulas.lets[index - formulas.first_let()], marked);
  return marked;
}

class computation_of_values {
 public:
  computation_of_values(plan_formulas const& formulas, device_facts const& facts,
                        plan_values& result)
      : formulas_(formulas), facts_(facts), result_(result)
  {
  }

  void compute_all()
  {
    for (auto const index : formulas_.order)
      result_.values[index] = index < formulas_.first_occupancy()
                                  ? compute_let(index - formulas_.first_let())
                                  : compute_occupancy(index - formulas_.first_occupancy());
    for (std::size_t i = 0; i < formulas_.shapes.size(); ++i) compute_extents(i);
    for (std::size_t i = 0; i < formulas_.launches.size(); ++i) compute_launch(i);
  }

  /// Without the values that are `unknown`, and what needs them.
  void compute_arrays(std::vector<bool> const& unknown)
  {
    for (auto const index : formulas_.order)
      if (!unknown[index]) result_.values[index] = compute_let(index - formulas_.first_let());
    for (std::size_t i = 0; i < formulas_.shapes.size(); ++i)
      if (std::ranges::any_of(formulas_.shapes[i],
                              [&](auto const& extent) { return uses_any(extent, unknown); }))
        result_.extents[i].clear();
      else
        compute_extents(i);
  }

  /// The value of `each`, as `check` returns it. `path` makes its path within the JSON.
  template <typename Check, typename Path>
  auto compute(formula const& each, Check const& check, Path const& path) const
  try {
    return check(each.evaluate(result_.values.data()));
  } catch (expression_error const& error) {
    fail_formula(formulas_.plan.file, path(), each.text(), with_sizes(error));
  }

 private:
  [[nodiscard]] expression_error with_sizes(expression_error const& error) const
  {
    return {error.what() + describe_sizes(formulas_, result_), error.hint()};
  }

  std::int64_t compute_let(std::size_t let) const
  {
    return compute(
        formulas_.lets[let], [](std::int64_t value) { return value; },
        [&] { return "let." + formulas_.plan.lets[let].name; });
  }

  [[nodiscard]] std::array<unsigned, 3> compute_block(std::size_t launch) const
  {
    std::array<unsigned, 3> block{};
    for (std::size_t i = 0; i < 3; ++i)
      block[i] = compute(
          formulas_.launches[launch].block[i],
          [&](std::int64_t value) { return check_block(value, i); },
          [&] { return launch_path(formulas_.plan, launch, "block", i); });
    check_product(block, launch);
    return block;
  }

  void check_product(std::array<unsigned, 3> const& block, std::size_t launch) const
  try {
    check_block_threads(block);
  } catch (expression_error const& error) {
    fail_plan(formulas_.plan.file, detail::format("launches[{}].block", launch),
              with_sizes(error).what(), error.hint());
  }

  [[nodiscard]] std::size_t compute_shared_bytes(std::size_t launch) const
  {
    return compute(formulas_.launches[launch].shared_bytes, check_shared_bytes,
                   [&] { return detail::format("launches[{}].shared", launch); });
  }

  [[nodiscard]] std::int64_t compute_occupancy(std::size_t kernel) const
  {
    auto const launch = formulas_.kernels[kernel];
    auto const& name = formulas_.plan.launches[launch].kernel;
    auto const block = compute_block(launch);
    auto const threads = block[0] * block[1] * block[2];
    auto const shared_bytes = compute_shared_bytes(launch);
    auto const blocks = facts_.occupancy(name, threads, shared_bytes);
    if (blocks > 0) return blocks;
    throw device_error(
        stage::device,
        {.message = detail::format("{}: launches[{}]: a multiprocessor of this device cannot run a "
                                   "block of {} with {} threads and {} bytes of dynamic shared "
                                   "memory",
                                   formulas_.plan.file, launch, name, threads, shared_bytes),
         .input = formulas_.plan.file,
         .code = error_code::invalid_launch,
         .hint = "state a smaller block, or less shared memory"});
  }

  void compute_extents(std::size_t argument)
  {
    auto const& shape = formulas_.shapes[argument];
    auto& extents = result_.extents[argument];
    std::size_t count = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      auto const path = [&] { return shape_path(formulas_.plan, argument, i); };
      extents[i] = compute(shape[i], check_extent, path);
      if (__builtin_mul_overflow(count, extents[i], &count) || is_too_large(argument, count))
        fail_formula(formulas_.plan.file, path(), shape[i].text(),
                     with_sizes({"the array has more than 2^63 - 1 bytes", "use smaller sizes"}));
    }
    result_.counts[argument] = count;
  }

  [[nodiscard]] bool is_too_large(std::size_t argument, std::size_t count) const
  {
    auto const& type = formulas_.plan.arguments[argument].type;
    auto const bytes = type ? type->size : static_cast<std::size_t>(facts_.element_bytes);
    std::int64_t product = 0;
    return __builtin_mul_overflow(count, bytes == 0 ? 1 : bytes, &product);
  }

  void compute_launch(std::size_t launch)
  {
    auto const& parsed = formulas_.launches[launch];
    auto& values = result_.launches[launch];
    for (std::size_t i = 0; i < 3; ++i)
      values.grid[i] = compute(
          parsed.grid[i], [&](std::int64_t value) { return check_grid(value, i); },
          [&] { return launch_path(formulas_.plan, launch, "grid", i); });
    values.block = compute_block(launch);
    values.shared_bytes = compute_shared_bytes(launch);
    for (std::size_t i = 0; i < parsed.arguments.size(); ++i)
      if (parsed.arguments[i]) values.arguments[i] = compute_argument(launch, i);
  }

  [[nodiscard]] std::int64_t compute_argument(std::size_t launch, std::size_t index) const
  {
    auto const& type = formulas_.plan.launches[launch].arguments[index].type;
    auto const check = [&](std::int64_t value) {
      check_fits(value, type);
      return value;
    };
    return compute(*formulas_.launches[launch].arguments[index], check,
                   [&] { return launch_argument_path(launch, index); });
  }

  plan_formulas const& formulas_;
  device_facts const& facts_;
  plan_values& result_;
};

void check_element(plan_formulas const& formulas, device_facts const& facts)
{
  if (!formulas.uses_element_bytes || facts.element_bytes > 0) return;
  throw usage_error({.message = detail::format("plan {} needs the size of an element, which no "
                                               "transform states",
                                               formulas.plan.name),
                     .input = formulas.plan.file,
                     .code = error_code::invalid_argument,
                     .hint = "state the element type"});
}

/// Makes room for the results; none is allocated the second time.
void resize(plan_formulas const& formulas, plan_values& result)
{
  result.values.resize(formulas.names.size());
  result.extents.resize(formulas.shapes.size());
  result.counts.resize(formulas.shapes.size());
  for (std::size_t i = 0; i < formulas.shapes.size(); ++i)
    result.extents[i].resize(formulas.shapes[i].size());
  result.launches.resize(formulas.launches.size());
  for (std::size_t i = 0; i < formulas.launches.size(); ++i)
    result.launches[i].arguments.resize(formulas.launches[i].arguments.size());
}

}  // namespace

void compute_values(plan_formulas const& formulas, std::span<std::int64_t const> sizes,
                    device_facts const& facts, plan_values& result)
{
  check_element(formulas, facts);
  resize(formulas, result);
  result.values[plan_formulas::k_multiprocessors] = facts.multiprocessors;
  result.values[plan_formulas::k_shared_memory] = facts.shared_memory;
  result.values[plan_formulas::k_element_bytes] = facts.element_bytes;
  for (std::size_t i = 0; i < formulas.sizes.size(); ++i)
    result.values[plan_formulas::k_first_size + i] = sizes[i];
  computation_of_values(formulas, facts, result).compute_all();
}

plan_values compute_without_device(plan_formulas const& formulas,
                                   std::span<std::int64_t const> sizes)
{
  check_element(formulas, {});
  plan_values result;
  resize(formulas, result);
  std::ranges::copy(sizes, result.values.begin() + plan_formulas::k_first_size);
  computation_of_values(formulas, {}, result).compute_arrays(values_of_device(formulas));
  return result;
}

plan_values compute_values(plan_formulas const& formulas, std::span<std::int64_t const> sizes,
                           device_facts const& facts)
{
  plan_values result;
  compute_values(formulas, sizes, facts, result);
  return result;
}

std::size_t compute_depth(plan_formulas const& formulas, std::size_t result,
                          plan_values const& values)
{
  if (!formulas.depths[result]) return 0;
  plan_values copy = values;
  return computation_of_values(formulas, {}, copy)
      .compute(*formulas.depths[result], check_extent,
               [&] { return "depth." + formulas.plan.results[result].output; });
}

}  // namespace fatlink::detail
