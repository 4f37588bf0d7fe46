// SPDX-License-Identifier: Apache-2.0
#include "plan/order_values.hpp"

#include <algorithm>

#include "plan/plan_error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// Visits values depth first; at most as deep as there are lets and kernels, which are limited.
class value_order {
 public:
  explicit value_order(plan_formulas const& formulas)
      : formulas_(formulas), states_(formulas.names.size(), state::unknown)
  {
  }

  void visit_all(std::vector<std::size_t> const& values)
  {
    for (auto const value : values)
      if (value >= formulas_.first_let()) visit(value);
  }

  std::vector<std::size_t> order = {};

 private:
  enum class state { unknown, open, done };

  void visit(std::size_t value)
  {
    if (states_[value] == state::done) return;
    path_.push_back(value);
    if (states_[value] == state::open) fail_cycle();
    states_[value] = state::open;
    visit_all(uses_of(value));
    states_[value] = state::done;
    path_.pop_back();
    order.push_back(value);
  }

  /// The values that `value` is computed from; an occupancy from the block and shared memory of the
  /// first launch of its kernel.
  [[nodiscard]] std::vector<std::size_t> uses_of(std::size_t value) const
  {
    if (value < formulas_.first_occupancy())
      return formulas_.lets[value - formulas_.first_let()].uses();
    auto const& launch = formulas_.launches[formulas_.kernels[value - formulas_.first_occupancy()]];
    auto uses = launch.shared_bytes.uses();
    for (auto const& extent : launch.block)
      uses.insert(uses.end(), extent.uses().begin(), extent.uses().end());
    return uses;
  }

  [[noreturn]] void fail_cycle() const
  {
    auto const start = std::find(path_.begin(), path_.end(), path_.back());
    std::string text;
    for (auto value = start; value != path_.end(); ++value)
      text += (text.empty() ? "" : " → ") + formulas_.names[*value];
    fail_plan(formulas_.plan.file, place_of(*start),
              detail::format("{} needs itself: {}", formulas_.names[*start], text),
              "state one of them without the others");
  }

  [[nodiscard]] std::string place_of(std::size_t value) const
  {
    if (value < formulas_.first_occupancy()) return "let." + formulas_.names[value];
    return detail::format("launches[{}].block",
                          formulas_.kernels[value - formulas_.first_occupancy()]);
  }

  plan_formulas const& formulas_;
  std::vector<state> states_;
  std::vector<std::size_t> path_ = {};
};

}  // namespace

std::vector<std::size_t> order_values(plan_formulas const& formulas)
{
  value_order values(formulas);
  for (std::size_t i = 0; i < formulas.lets.size(); ++i)
    values.visit_all({formulas.first_let() + i});
  for_each_formula(formulas, [&](formula const& each) { values.visit_all(each.uses()); });
  return values.order;
}

}  // namespace fatlink::detail
