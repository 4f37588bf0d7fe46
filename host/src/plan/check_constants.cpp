// SPDX-License-Identifier: Apache-2.0
#include "plan/check_constants.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "plan/launch_limits.hpp"
#include "plan/plan_error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

class constant_check {
 public:
  explicit constant_check(plan_formulas const& formulas)
      : formulas_(formulas), values_(formulas.names.size()), is_known_(formulas.names.size())
  {
  }

  void check_all()
  {
    for (auto const value : formulas_.order)
      if (value < formulas_.first_occupancy()) compute_let(value);
    for (std::size_t i = 0; i < formulas_.shapes.size(); ++i)
      for (std::size_t k = 0; k < formulas_.shapes[i].size(); ++k)
        check(formulas_.shapes[i][k], shape_path(formulas_.plan, i, k), check_extent);
    for (std::size_t i = 0; i < formulas_.launches.size(); ++i) check_launch(i);
    for (std::size_t i = 0; i < formulas_.depths.size(); ++i)
      if (auto const& depth = formulas_.depths[i])
        check(*depth, "depth." + formulas_.plan.results[i].output, check_extent);
  }

 private:
  [[nodiscard]] bool is_constant(formula const& each) const
  {
    return std::ranges::all_of(each.uses(), [&](std::size_t value) { return is_known_[value]; });
  }

  /// `check_value` is called with the value of a constant.
  template <typename Check>
  void check(formula const& each, std::string const& path, Check const& check_value) const
  try {
    if (is_constant(each)) check_value(each.evaluate(values_.data()));
  } catch (expression_error const& error) {
    fail_formula(formulas_.plan.file, path, each.text(), error);
  }

  void compute_let(std::size_t value)
  {
    auto const let = value - formulas_.first_let();
    check(formulas_.lets[let], "let." + formulas_.plan.lets[let].name, [&](std::int64_t result) {
      values_[value] = result;
      is_known_[value] = true;
    });
  }

  void check_launch(std::size_t index) const
  {
    auto const& plan = formulas_.plan;
    auto const& launch = formulas_.launches[index];
    for (std::size_t i = 0; i < 3; ++i) {
      check(launch.grid.at(i), launch_path(plan, index, "grid", i),
            [&](std::int64_t value) { check_grid(value, i); });
      check(launch.block.at(i), launch_path(plan, index, "block", i),
            [&](std::int64_t value) { check_block(value, i); });
    }
    check_threads(index);
    check(launch.shared_bytes, detail::format("launches[{}].shared", index), check_shared_bytes);
    for (std::size_t i = 0; i < launch.arguments.size(); ++i)
      if (auto const& argument = launch.arguments[i])
        check(*argument, launch_argument_path(index, i), [&](std::int64_t value) {
          check_fits(value, plan.launches[index].arguments[i].type);
        });
  }

  void check_threads(std::size_t index) const
  try {
    std::array<unsigned, 3> block{};
    for (std::size_t i = 0; i < 3; ++i) {
      auto const& extent = formulas_.launches[index].block.at(i);
      if (!is_constant(extent)) return;
      block.at(i) = static_cast<unsigned>(extent.evaluate(values_.data()));
    }
    check_block_threads(block);
  } catch (expression_error const& error) {
    fail_plan(formulas_.plan.file, detail::format("launches[{}].block", index), error.what(),
              error.hint());
  }

  plan_formulas const& formulas_;
  std::vector<std::int64_t> values_;  ///< as formulas_ numbers them
  std::vector<bool> is_known_;        ///< likewise
};

}  // namespace

void check_constants(plan_formulas const& formulas)
{
  constant_check(formulas).check_all();
}

}  // namespace fatlink::detail
