// SPDX-License-Identifier: Apache-2.0
#include "verification/fold_program.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "fatlink/error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::size_t k_leaf = 16;
constexpr double k_reference_roundoff = 0x1p-53;
// The sums of magnitudes and bounds are rounded themselves: at most 2^40 additions.
constexpr double k_slack = 1 + 0x1p-12;

/// (1 + error)^calls − 1; infinity where that exceeds double.
double compound(double error, double calls) noexcept
{
  return std::expm1(calls * std::log1p(error));
}

/// What folds assume of one call of the hook: a result r is off by at most relative·|r| + absolute.
struct call_error {
  double relative;
  double absolute;
};

call_error error_of_call(hook_tolerance const& tolerance, scalar_kind kind) noexcept
{
  auto const format = format_of(kind);
  // Of a sum's operands, because |a| and |b| are at most what Σ|x| bounds: docs/verification.md.
  return {.relative =
              tolerance.ulp * 2 * format.unit_roundoff() + tolerance.relative + tolerance.operands,
          .absolute = tolerance.ulp * format.least_denormal() + tolerance.absolute};
}

/// a + b, and in `low` what the rounded sum lacks (Knuth's TwoSum). Infinite sums lack nothing.
double two_sum(double a, double b, double& low) noexcept
{
  auto const sum = a + b;
  auto const part = sum - a;
  low = std::isfinite(sum) ? (a - (sum - part)) + (b - part) : 0;
  return sum;
}

hook_program_types types_for(components const& parts, std::span<std::byte const> state)
{
  return {.operands = {parts, parts}, .result = parts, .state = state};
}

/// @throws file_error the error model is that of another operation than a + b.
void check_model_of_sum(stated_hook const& stated)
{
  auto const& owner = *stated.owner;
  if (owner.model != error_model::exact && owner.model != error_model::relative) return;
  throw file_error(
      stage::verification,
      {.message = detail::format("{}: hook {}: adds floats, and \"error_model\" is \"{}\", which "
                                 "is for {}",
                                 owner.file, stated.hook->hook, to_string(owner.model),
                                 owner.model == error_model::exact
                                     ? "hooks that return one of their operands"
                                     : "products"),
       .input = owner.file,
       .code = error_code::invalid_sidecar,
       .hint = R"(state "error_model": "additive")"});
}

}  // namespace

fold_program::fold_program(stated_hook const& stated, components const& parts,
                           std::span<std::byte const> state)
    : parts_(parts),
      hook_(stated, types_for(parts, state)),
      model_(stated.owner->model),
      result_(parts.size())
{
  auto const has_floats =
      std::ranges::any_of(parts, [](component const& part) { return !is_integer(part.kind); });
  if (has_floats && model_ == error_model::none)
    throw not_verifiable(detail::format(
        "{} states no \"error_model\" (exact, additive or relative), which folds of floats need",
        stated.owner->file));
  if (has_floats && adds()) check_model_of_sum(stated);
  auto const multiplies_operands = hook_.tolerance().operands > 0;
  if (has_floats && multiplies_operands && !(model_ == error_model::additive && adds()))
    throw not_verifiable(detail::format(
        "hook {} of {} has a tolerance of its \"operands\", which folds have for sums only (a + b, "
        "\"error_model\": \"additive\")",
        stated.hook->hook, stated.owner->file));
}

void fold_program::start(partial& result, number const* value, double const* bounds) const
{
  auto const size = parts_.size();
  result.count = 1;
  result.value.assign(value, value + size);
  result.low.assign(size, 0);
  result.error.assign(bounds, bounds + size);
  result.largest = result.error;
  result.magnitude.resize(size);
  result.relative.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    auto const magnitude = magnitude_of(parts_, i, value);
    result.magnitude[i] = magnitude;
    result.relative[i] = bounds[i] == 0 ? 0 : bounds[i] / magnitude;
  }
}

void fold_program::add(partial& result, partial const& later) const
{
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    auto& value = result.value[i];
    if (is_integer(parts_[i].kind)) {
      value = whole_number(wrapped(parts_[i].kind, value.whole + later.value[i].whole));
      continue;
    }
    double low = 0;
    auto const high = two_sum(value.real, later.value[i].real, low);
    value.real = two_sum(high, low + (result.low[i] + later.low[i]), result.low[i]);
  }
}

void fold_program::combine(partial& result, partial const& later)
{
  if (later.count == 0) return;
  if (result.count == 0) {
    result = later;
    return;
  }
  if (adds()) {
    add(result, later);
  } else {
    std::array<number const*, 2> const operands{result.value.data(), later.value.data()};
    hook_.evaluate(operands, result_.data());
    std::ranges::copy(result_, result.value.begin());
  }
  result.count += later.count;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    result.magnitude[i] += later.magnitude[i];
    result.error[i] += later.error[i];
    result.largest[i] = std::max(result.largest[i], later.largest[i]);
    result.relative[i] += later.relative[i];
  }
}

double fold_program::bound(partial const& result, std::size_t index, double calls, double depth,
                           double reference_depth) const
{
  auto const kind = parts_[index].kind;
  if (is_integer(kind)) return 0;
  if (model_ == error_model::exact) return result.largest[index];
  auto const call = error_of_call(hook_.tolerance(), kind);
  if (model_ == error_model::relative) {
    auto const magnitude = magnitude_of(parts_, index, result.value.data());
    auto const growth = compound(call.relative + k_reference_roundoff, calls);
    return k_slack * (growth * (1 + result.relative[index]) + result.relative[index]) * magnitude +
           (calls == 0 ? 0 : call.absolute);
  }
  auto const sum = result.magnitude[index] + result.error[index];
  auto const growth = compound(call.relative, depth);
  // A reference by sums of two doubles is rounded once, and by 2^-105 for each element.
  auto const own = adds() ? k_reference_roundoff * std::abs(result.value[index].real) +
                                0x1p-105 * static_cast<double>(result.count) * sum
                          : 2 * k_reference_roundoff * reference_depth * sum;
  return k_slack * (growth * sum + result.error[index] + calls * call.absolute * (1 + growth)) +
         (calls == 0 ? 0 : own);
}

void pairwise_fold::push(number const* value, double const* bounds)
{
  program_.start(next_, value, bounds);
  program_.combine(leaf_, next_);
  if (!program_.adds() && leaf_.count == k_leaf) carry();
}

void pairwise_fold::carry()
{
  for (auto& level : levels_) {
    if (level.count == 0) {
      std::swap(level, leaf_);
      leaf_.count = 0;
      return;
    }
    program_.combine(level, leaf_);
    std::swap(level, leaf_);
    level.count = 0;
  }
}

partial pairwise_fold::finish()
{
  partial result;
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
    program_.combine(result, *level);
    level->count = 0;
  }
  program_.combine(result, leaf_);
  leaf_.count = 0;
  return result;
}

double pairwise_depth(std::size_t count) noexcept
{
  return static_cast<double>(k_leaf) + 2 * std::log2(static_cast<double>(count) + 1);
}

}  // namespace fatlink::detail
