// SPDX-License-Identifier: Apache-2.0
// The expected elements of folds and scans.
#include "verification/expected_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "fatlink/error.hpp"
#include "util/process/parallel.hpp"
#include "util/text/format.hpp"
#include "verification/operand_program.hpp"

namespace fatlink::detail {
namespace {

/// The fold of some elements in a row; vectors have an item for each number of an element.
struct partial {
  std::size_t count = 0;               ///< elements; 0: the vectors mean nothing
  std::vector<number> value = {};      ///< the fold
  std::vector<double> low = {};        ///< of sums: what `value` lacks of the exact sum
  std::vector<double> magnitude = {};  ///< Σ|x|
  std::vector<double> error = {};      ///< Σ of the elements' bounds
  std::vector<double> largest = {};    ///< the largest of them
  std::vector<double> relative = {};   ///< Σ of bound / |x|
};

/// Folds elements with a hook in double and bounds the error of any other order of its calls.
/// docs/verification.md derives the bounds. A hook that adds all numbers is replaced by sums of two
/// doubles; others are called pairwise, so that the reference itself is off by the logarithm of the
/// count only. The order of the elements is kept.
class fold_program {
 public:
  /// For elements and results of `parts`.
  /// @throws not_verifiable parts with floats and no error model. @throws file_error as
  ///   hook_program.
  fold_program(stated_hook const& stated, components const& parts,
               std::span<std::byte const> state);

  /// Sets `result` to one element with the bounds of its numbers.
  void start(partial& result, number const* value, double const* bounds) const;
  /// Sets `result` to the fold of `result` and of the elements after it. Nothing where `later` has
  /// no elements.
  void combine(partial& result, partial const& later);

  /// The bound of number `index` after `calls` calls of the hook, of which at most `depth` are in a
  /// row; `reference_depth`: calls in a row in the reference itself.
  [[nodiscard]] double bound(partial const& result, std::size_t index, double calls, double depth,
                             double reference_depth) const;

  [[nodiscard]] components const& parts() const noexcept { return parts_; }
  /// Whether every number of the result is a sum.
  [[nodiscard]] bool adds() const noexcept { return adds_; }

 private:
  void add(partial& result, partial const& later) const;

  components parts_;
  hook_program hook_;
  error_model model_;
  bool adds_;
  std::vector<number> result_;
};

/// Folds elements that come one after the other: 16 in a row, then in a binary tree.
class pairwise_fold {
 public:
  explicit pairwise_fold(fold_program& program) : program_(program), levels_(64) {}
  void push(number const* value, double const* bounds);
  /// The fold of all; the object is then empty.
  partial finish();

 private:
  void carry();

  fold_program& program_;
  std::vector<partial> levels_;  ///< level i: of 16·2^i elements, or empty
  partial leaf_ = {};
  partial next_ = {};
};

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

/// @throws file_error the error model is that of another operation than the sum of `part`.
void check_model_of_sum(stated_hook const& stated, component const& part)
{
  auto const& owner = *stated.owner;
  if (owner.model != error_model::exact && owner.model != error_model::relative) return;
  throw file_error(
      stage::verification,
      {.message = detail::format(
           "{}: hook {}: adds {}, and \"error_model\" is \"{}\", which "
           "is for {}",
           owner.file, stated.hook->hook, part.name.empty() ? "floats" : "the floats " + part.name,
           to_string(owner.model),
           owner.model == error_model::exact ? "hooks that return one of their operands"
                                             : "products"),
       .input = owner.file,
       .code = error_code::invalid_sidecar,
       .hint = R"(state "error_model": "additive")"});
}

fold_program::fold_program(stated_hook const& stated, components const& parts,
                           std::span<std::byte const> state)
    : parts_(parts),
      hook_(stated, types_for(parts, state)),
      model_(stated.owner->model),
      adds_(std::ranges::all_of(hook_.rules(), [](auto rule) { return rule == fold_rule::sum; })),
      result_(parts.size())
{
  auto const has_floats =
      std::ranges::any_of(parts, [](component const& part) { return !is_integer(part.kind); });
  if (has_floats && model_ == error_model::none)
    throw not_verifiable(detail::format(
        "{} states no \"error_model\" (exact, additive or relative), which folds of floats need",
        stated.owner->file));
  for (std::size_t i = 0; i < parts_.size(); ++i)
    if (!is_integer(parts_[i].kind) && hook_.rules()[i] == fold_rule::sum)
      check_model_of_sum(stated, parts_[i]);
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
  if (model_ == error_model::exact || hook_.rules()[index] == fold_rule::choice)
    return result.largest[index];
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

/// The most calls in a row that pairwise_fold makes for `count` elements.
double pairwise_depth(std::size_t count) noexcept
{
  return static_cast<double>(k_leaf) + 2 * std::log2(static_cast<double>(count) + 1);
}

constexpr std::size_t k_row = 1024;  // elements of a scan that follow each other

/// The parts of one thread: the elements, the hook and room for bounds.
class fold_worker {
 public:
  fold_worker(expected_output const& output, std::size_t count)
      : parts_(components_of(output.type)),
        elements_(compile_operand(output.node.operands.at(0), output.context, count, parts_)),
        program_(output.context.find_hook(output.node.name), parts_, output.context.data.state),
        fold_(program_),
        count_(count),
        bounds_(parts_.size())
  {
    auto const& own = elements_->parts();
    auto const fits = std::ranges::equal(own, parts_, [](auto const& a, auto const& b) {
      return a.name == b.name && a.kind == b.kind;
    });
    if (!fits)
      throw not_verifiable(
          detail::format("the output is {}, and elements of another type are "
                         "folded",
                         to_string(output.type)));
  }
  fold_worker(fold_worker const&) = delete;
  fold_worker& operator=(fold_worker const&) = delete;

  /// The fold of the elements [begin, end).
  partial fold(std::size_t begin, std::size_t end)
  {
    for (auto i = begin; i < end; ++i) {
      auto const place = find(i);
      fold_.push(elements_->values(place), elements_->bounds(place));
    }
    return fold_.finish();
  }

  /// Element `index` by itself.
  void start(partial& result, std::size_t index)
  {
    auto const place = find(index);
    program_.start(result, elements_->values(place), elements_->bounds(place));
  }

  /// Visits `result` as element `index`, after `calls` calls of the hook.
  void visit(partial const& result, expected_element element, double calls,
             std::optional<double> depth, double reference_depth, expected_visitor const& visitor)
  {
    for (std::size_t i = 0; i < parts_.size(); ++i)
      bounds_[i] = program_.bound(result, i, calls, depth ? std::min(*depth, calls) : calls,
                                  reference_depth);
    element.values = result.value.data();
    element.bounds = bounds_.data();
    visitor(element);
  }

  [[nodiscard]] fold_program& program() noexcept { return program_; }

 private:
  /// Where element `index` is in the block of `elements_`, which is made to hold it.
  std::size_t find(std::size_t index)
  {
    if (index < begin_ || index >= end_) {
      begin_ = index;
      end_ = index + std::min(elements_->capacity(), count_ - index);
      elements_->evaluate(begin_, end_ - begin_);
    }
    return index - begin_;
  }

  components parts_;
  std::unique_ptr<operand_program> elements_;
  fold_program program_;
  pairwise_fold fold_;
  std::size_t count_;
  std::size_t begin_ = 0;  ///< of the block that was evaluated last
  std::size_t end_ = 0;
  std::vector<double> bounds_;
};

/// The initial value of a fold, operand `index`; no elements where it is not stated.
partial initial_value(expected_output const& output, std::size_t index, fold_program const& program)
{
  partial initial;
  if (output.node.operands.size() <= index) return initial;
  auto const value = compile_operand(output.node.operands[index], output.context, 1, std::nullopt);
  if (!std::ranges::equal(value->parts(), program.parts(), [](auto const& a, auto const& b) {
        return a.name == b.name && is_integer(a.kind) == is_integer(b.kind);
      }))
    throw not_verifiable("the initial value has another type than the elements");
  value->evaluate(0, 1);
  program.start(initial, value->values(), value->bounds());
  return initial;
}

double calls_of(partial const& result)
{
  return result.count == 0 ? 0 : static_cast<double>(result.count - 1);
}

/// The folds of the blocks of parallel_blocks.
std::vector<partial> fold_blocks(expected_output const& output, std::size_t count)
{
  std::vector<partial> blocks(thread_count(count));
  if (count == 0) return blocks;
  parallel_blocks(count, [&](std::size_t begin, std::size_t end, std::size_t thread) {
    blocks[thread] = fold_worker(output, count).fold(begin, end);
  });
  return blocks;
}

/// The fold of all elements before those of `thread`.
partial fold_before(expected_output const& output, std::vector<partial> const& blocks,
                    std::size_t thread, fold_program& program)
{
  auto before = initial_value(output, 1, program);
  for (std::size_t i = 0; i < thread; ++i) program.combine(before, blocks[i]);
  return before;
}

}  // namespace

void visit_fold(expected_output const& output, expected_visitor const& visitor)
{
  auto const count = count_of(operand_of(output.node, 0, 2), output.context);
  fold_worker worker(output, count);
  auto result = initial_value(output, 1, worker.program());
  for (auto const& block : fold_blocks(output, count)) worker.program().combine(result, block);
  if (result.count == 0) throw not_verifiable("a fold of no elements has no value");
  worker.visit(result, {}, calls_of(result), output.depth, pairwise_depth(count), visitor);
}

void visit_scan(expected_output const& output, expected_visitor const& visitor)
{
  auto const is_exclusive = output.node.kind == operation::exclusive_scan;
  auto const count = count_of(operand_of(output.node, 0, is_exclusive ? 2 : 1), output.context);
  if (count != output.count)
    throw not_verifiable(
        detail::format("{} elements are scanned, and the output has {}", count, output.count));
  auto const blocks = fold_blocks(output, count);
  parallel_blocks(count, [&](std::size_t begin, std::size_t end, std::size_t thread) {
    fold_worker worker(output, count);
    auto& program = worker.program();
    auto before = fold_before(output, blocks, thread, program);  // all earlier rows
    partial row;
    partial element;
    partial prefix;
    auto const visit = [&](std::size_t i) {
      prefix = before;
      program.combine(prefix, row);
      std::size_t const rows = i / k_row + k_row;  // calls in a row: earlier rows and this one
      auto const depth = static_cast<double>(rows) + pairwise_depth(count);
      worker.visit(prefix, {.thread = thread, .index = i}, calls_of(prefix), output.depth, depth,
                   visitor);
    };
    for (auto i = begin; i < end; ++i) {
      if (is_exclusive) visit(i);
      worker.start(element, i);
      program.combine(row, element);
      if (!is_exclusive) visit(i);
      if (row.count < k_row) continue;
      program.combine(before, row);
      row.count = 0;
    }
  });
}

std::vector<std::size_t> read_offsets(expected_output const& output, std::size_t count,
                                      std::size_t most)
{
  auto const& node = operand_of(output.node, 1, most);
  if (node.kind != operation::argument) throw not_verifiable("computed offsets are not supported");
  auto const& array = output.context.find_array(node.name);
  if (!is_integer(array.type.kind))
    throw not_verifiable(
        detail::format("{} is {}, not integers", node.name, to_string(array.type)));
  std::vector<std::size_t> offsets(array.count());
  std::size_t previous = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    auto const value = load(array.type.kind, array.bytes.data() + i * array.type.size).whole;
    if (value < static_cast<int128>(previous) || value > static_cast<int128>(count))
      throw not_verifiable(
          detail::format("{}[{}] is {}, below the one before it or above the {} "
                         "elements",
                         node.name, i, static_cast<std::int64_t>(value), count));
    previous = offsets[i] = static_cast<std::size_t>(value);
  }
  return offsets;
}

void visit_segments(expected_output const& output, expected_visitor const& visitor)
{
  auto const count = count_of(operand_of(output.node, 0, 3), output.context);
  auto const offsets = read_offsets(output, count, 3);
  auto const segments = offsets.empty() ? 0 : offsets.size() - 1;
  if (segments != output.count)
    throw not_verifiable(detail::format("{} offsets are {} segments, and the output has {}",
                                        offsets.size(), segments, output.count));
  parallel_blocks(segments, [&](std::size_t begin, std::size_t end, std::size_t thread) {
    fold_worker worker(output, count);
    auto const initial = initial_value(output, 2, worker.program());
    for (auto i = begin; i < end; ++i) {
      auto result = initial;
      worker.program().combine(result, worker.fold(offsets[i], offsets[i + 1]));
      if (result.count == 0) throw not_verifiable("a fold of no elements has no value");
      worker.visit(result, {.thread = thread, .index = i}, calls_of(result), output.depth,
                   pairwise_depth(offsets[i + 1] - offsets[i]), visitor);
    }
  });
}

namespace {

/// Operand 1 of fold_runs or scan_runs: where the runs of the elements begin.
std::vector<std::size_t> runs_of(expected_output const& output, std::size_t count)
{
  auto const& node = operand_of(output.node, 1, 2);
  auto runs = find_runs({.node = node,
                         .context = output.context,
                         .type = output.type,
                         .count = output.count,
                         .depth = std::nullopt});
  auto const keys = count_of(node, output.context);
  if (keys != count)
    throw not_verifiable(
        detail::format("{} elements are folded, and there are {} keys", count, keys));
  return runs;
}

}  // namespace

void visit_run_folds(expected_output const& output, expected_visitor const& visitor)
{
  auto const count = count_of(operand_of(output.node, 0, 2), output.context);
  auto const runs = runs_of(output, count);
  parallel_blocks(runs.size(), [&](std::size_t begin, std::size_t end, std::size_t thread) {
    fold_worker worker(output, count);
    for (auto i = begin; i < end; ++i) {
      auto const run_end = i + 1 < runs.size() ? runs[i + 1] : count;
      auto const result = worker.fold(runs[i], run_end);
      worker.visit(result, {.thread = thread, .index = i}, calls_of(result), output.depth,
                   pairwise_depth(run_end - runs[i]), visitor);
    }
  });
}

void visit_run_scans(expected_output const& output, expected_visitor const& visitor)
{
  auto const count = count_of(operand_of(output.node, 0, 2), output.context);
  auto const runs = runs_of(output, count);
  if (runs.empty()) return;
  parallel_blocks(count, [&](std::size_t begin, std::size_t end, std::size_t thread) {
    fold_worker worker(output, count);
    auto& program = worker.program();
    auto next = std::ranges::upper_bound(runs, begin);  // run after that of element `begin`
    auto run_begin = *std::prev(next);
    auto before = worker.fold(run_begin, begin);  // all earlier rows of the run
    partial row;
    partial element;
    for (auto i = begin; i < end; ++i) {
      if (next != runs.end() && i == *next) {
        run_begin = *next++;
        before.count = row.count = 0;
      }
      worker.start(element, i);
      program.combine(row, element);
      auto prefix = before;
      program.combine(prefix, row);
      std::size_t const rows = (i - run_begin) / k_row + k_row;
      worker.visit(prefix, {.thread = thread, .index = i}, calls_of(prefix), output.depth,
                   static_cast<double>(rows) + pairwise_depth(i - run_begin), visitor);
      if (row.count < k_row) continue;
      program.combine(before, row);
      row.count = 0;
    }
  });
}

}  // namespace fatlink::detail
