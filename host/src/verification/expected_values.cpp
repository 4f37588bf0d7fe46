// SPDX-License-Identifier: Apache-2.0
#include "verification/expected_values.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "expression/syntax.hpp"
#include "fatlink/error.hpp"
#include "util/process/parallel.hpp"
#include "util/text/format.hpp"
#include "verification/operand_program.hpp"
#include "verification/sort_numbers.hpp"

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

/// The offsets of segments, checked: not decreasing, none beyond `count` elements.
std::vector<std::size_t> read_offsets(expected_output const& output, std::size_t count)
{
  auto const& node = operand_of(output.node, 1, 3);
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

void visit_segments(expected_output const& output, expected_visitor const& visitor)
{
  auto const count = count_of(operand_of(output.node, 0, 3), output.context);
  auto const offsets = read_offsets(output, count);
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

using counter = std::atomic<std::uint64_t>;

/// The bins that an element may fall into: [first, last], and the one of the reference.
struct bin_range {
  std::uint64_t first;
  std::uint64_t expected;
  std::uint64_t last;
};

/// The hook of one thread.
class bin_worker {
 public:
  bin_worker(expected_output const& output, array_view const& source)
      : parts_(components_of(source.type)),
        hook_(output.context.find_hook(output.node.name),
              {.operands = {parts_},
               .real = real_kind_of(output.node, output.context),
               .state = output.context.data.state}),
        source_(source),
        values_(parts_.size()),
        zeros_(parts_.size())
  {
    if (hook_.result().size() != 1)
      throw not_verifiable(detail::format(
          "the hook {} has several results, not the number of a bin", output.node.name));
  }

  /// The hook returns unsigned int: a real number is truncated, an integer wrapped.
  bin_range bins_of(std::size_t index)
  {
    auto const* const element = source_.bytes.data() + index * source_.type.size;
    for (std::size_t i = 0; i < parts_.size(); ++i)
      values_[i] = load(parts_[i].kind, element + parts_[i].offset);
    number result;
    hook_.evaluate(std::array<number const*, 1>{values_.data()}, &result);
    if (is_integer(hook_.result().front().kind)) {
      auto const bin = static_cast<std::uint64_t>(wrapped(scalar_kind::uint32, result.whole));
      return {bin, bin, bin};
    }
    auto const bound =
        tolerance_at(hook_.tolerance(), hook_.result(), 0, &result,
                     hook_.largest_operand(0, std::array<double const*, 1>{zeros_.data()}));
    return {bin_of(result.real - bound), bin_of(result.real), bin_of(result.real + bound)};
  }

 private:
  static std::uint64_t bin_of(double value)
  {
    return static_cast<std::uint64_t>(truncated(scalar_kind::uint32, value));
  }

  components parts_;
  hook_program hook_;
  array_view const& source_;
  std::vector<number> values_;
  std::vector<double> zeros_;
};

/// Of each bin, how many elements the reference counts, and how many it is not sure of.
struct bin_counts {
  explicit bin_counts(std::size_t bins) : expected(bins), unsure(bins) {}

  void add(bin_range const& bins)
  {
    if (bins.expected < expected.size())
      expected[bins.expected].fetch_add(1, std::memory_order_relaxed);
    if (bins.first == bins.last) return;
    for (auto bin = bins.first; bin <= bins.last && bin < unsure.size(); ++bin)
      unsure[bin].fetch_add(1, std::memory_order_relaxed);
  }

  std::vector<counter> expected;
  std::vector<counter> unsure;
};

}  // namespace

void visit_histogram(expected_output const& output, expected_visitor const& visitor)
{
  auto const& source = find_source(output, 0, 2);
  bin_worker const checked(output, source);
  if (!is_integer(output.type.kind))
    throw not_verifiable(
        detail::format("the output is {}, and integers are counted", to_string(output.type)));
  bin_counts counts(output.count);
  parallel_blocks(source.count(), [&](std::size_t begin, std::size_t end, std::size_t) {
    bin_worker worker(output, source);
    for (auto i = begin; i < end; ++i) counts.add(worker.bins_of(i));
  });
  for (std::size_t i = 0; i < output.count; ++i) {
    auto const value = whole_number(wrapped(output.type.kind, counts.expected[i].load()));
    auto const bound = static_cast<double>(counts.unsure[i].load());
    visitor({.index = i, .values = &value, .bounds = &bound});
  }
}

namespace {

/// An array that is copied from, which has the output's type.
array_view const& find_source_of_type(expected_output const& output, std::size_t operand = 0,
                                      std::size_t most = 1)
{
  auto const& source = find_source(output, operand, most);
  if (!(source.type == output.type))
    throw not_verifiable(detail::format("the output is {}, and its elements are copies of {}",
                                        to_string(output.type), to_string(source.type)));
  return source;
}

/// A hook of one or two elements that returns one number.
class element_function {
 public:
  /// `result`: nothing: as the expression is; integers are then wrapped to 64 bits.
  element_function(expected_output const& output, array_view const& source, std::size_t parameters,
                   std::optional<components> result = std::nullopt)
      : parts_(components_of(source.type)),
        hook_(output.context.find_hook(output.node.name),
              {.operands = std::vector<components>(parameters, parts_),
               .result = std::move(result),
               .state = output.context.data.state}),
        source_(source),
        first_(parts_.size()),
        second_(parts_.size()),
        result_(hook_.result().size())
  {
  }

  number const& value(std::size_t index)
  {
    load_element(index, first_);
    hook_.evaluate(std::array<number const*, 1>{first_.data()}, result_.data());
    return result_.front();
  }
  bool operator()(std::size_t index) { return hook_.is_true(&value(index)); }
  bool operator()(std::size_t a, std::size_t b)
  {
    load_element(a, first_);
    load_element(b, second_);
    hook_.evaluate(std::array<number const*, 2>{first_.data(), second_.data()}, result_.data());
    return hook_.is_true(result_.data());
  }

 private:
  void load_element(std::size_t index, std::vector<number>& numbers) const
  {
    auto const* const element = source_.bytes.data() + index * source_.type.size;
    for (std::size_t i = 0; i < parts_.size(); ++i)
      numbers[i] = load(parts_[i].kind, element + parts_[i].offset);
  }

  components parts_;
  hook_program hook_;
  array_view const& source_;
  std::vector<number> first_;
  std::vector<number> second_;
  std::vector<number> result_;
};

/// Whether an operation selects an element: filter, rejected, unique, and what counts their
/// elements.
class selection {
 public:
  selection(expected_output const& output, array_view const& source)
      : is_unique_(output.node.kind == operation::unique ||
                   output.node.kind == operation::unique_count),
        wanted_(output.node.kind != operation::rejected),
        hook_(output, source, is_unique_ ? 2 : 1)
  {
  }

  bool operator()(std::size_t index)
  {
    if (is_unique_) return index == 0 || !hook_(index - 1, index);
    return hook_(index) == wanted_;
  }

 private:
  bool is_unique_;
  bool wanted_;
  element_function hook_;
};

/// Of each thread of parallel_blocks, how many elements of its block are selected.
std::vector<std::size_t> count_selected(expected_output const& output, array_view const& source)
{
  std::vector<std::size_t> counts(thread_count(source.count()));
  parallel_blocks(source.count(), [&](std::size_t begin, std::size_t end, std::size_t thread) {
    selection is_selected(output, source);
    for (auto i = begin; i < end; ++i)
      if (is_selected(i)) ++counts[thread];
  });
  return counts;
}

/// The places 0 to count - 1 in a stable order. `make_less`: returns an order of two places, for
/// one thread.
template <typename MakeLess>
std::vector<std::size_t> stable_order(std::size_t count, MakeLess const& make_less)
{
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::size_t> ends(thread_count(order.size()));
  auto const at = [&](std::size_t index) {
    return order.begin() + static_cast<std::ptrdiff_t>(index);
  };
  parallel_blocks(order.size(), [&](std::size_t begin, std::size_t end, std::size_t thread) {
    auto less = make_less();
    ends[thread] = end;
    std::stable_sort(at(begin), at(end), [&](std::size_t a, std::size_t b) { return less(a, b); });
  });
  auto less = make_less();
  for (std::size_t i = 1; i < ends.size(); ++i)
    std::inplace_merge(at(0), at(ends[i - 1]), at(ends[i]),
                       [&](std::size_t a, std::size_t b) { return less(a, b); });
  return order;
}

/// A result that is one number: of integers the exact one.
components exact_number()
{
  return {{.kind = scalar_kind::float64}};
}

/// What the hook of sort_by returns for each element; only the order of these numbers matters.
std::vector<number> keys_of(expected_output const& output, array_view const& source)
{
  std::vector<number> keys(source.count());
  parallel_blocks(keys.size(), [&](std::size_t begin, std::size_t end, std::size_t) {
    element_function key(output, source, 1, exact_number());
    for (auto i = begin; i < end; ++i) keys[i] = key.value(i);
  });
  return keys;
}

/// The order of sort_by. NaN is behind every number, as NumPy sorts; before every number if the
/// reference is the negative of an expression, which is the reverse order of that.
class key_order {
 public:
  explicit key_order(expected_output const& output)
  {
    auto const& hook = *output.context.find_hook(output.node.name).hook;
    expression_syntax const syntax(hook.result.front().text, expression_use::reference);
    nan_is_first_ = syntax.nodes().back().code == expression_code::negate;
  }

  bool operator()(number const& a, number const& b) const
  {
    if (!std::isnan(a.real) && !std::isnan(b.real))
      return a.real == b.real ? a.whole < b.whole : a.real < b.real;
    auto const& behind = nan_is_first_ ? a : b;
    return std::isnan(behind.real) && std::isnan(a.real) != std::isnan(b.real);
  }

 private:
  bool nan_is_first_ = false;
};

std::vector<std::size_t> stable_order(expected_output const& output, array_view const& source)
{
  if (output.node.kind == operation::sort)
    return stable_order(source.count(), [&] { return element_function(output, source, 2); });
  auto const keys = keys_of(output, source);
  key_order const is_before(output);
  return stable_order(keys.size(), [&] {
    return [&](std::size_t a, std::size_t b) { return is_before(keys[a], keys[b]); };
  });
}

/// Visits elements of `size` bytes that the output is expected to have.
void visit_copies(std::vector<std::byte> const& expected, std::size_t size,
                  expected_visitor const& visitor)
{
  parallel_blocks(expected.size() / size,
                  [&](std::size_t begin, std::size_t end, std::size_t thread) {
                    for (auto i = begin; i < end; ++i)
                      visitor({.thread = thread, .index = i, .copied = expected.data() + i * size});
                  });
}

void check_parts(components const& computed, element_type const& type)
{
  auto const expected = components_of(type);
  auto const fits = std::ranges::equal(computed, expected, [](auto const& a, auto const& b) {
    return a.name == b.name && a.kind == b.kind;
  });
  if (!fits)
    throw not_verifiable(
        detail::format("the output is {}, and another type is computed", to_string(type)));
}

}  // namespace

array_view const& find_source(expected_output const& output, std::size_t operand, std::size_t most)
{
  auto const& node = operand_of(output.node, operand, most);
  if (node.kind != operation::argument)
    throw not_verifiable(
        detail::format("{} of computed elements cannot be verified, only of an "
                       "argument",
                       to_string(output.node.kind)));
  return output.context.find_array(node.name);
}

computation const& operand_of(computation const& node, std::size_t index, std::size_t most)
{
  if (node.operands.size() > most || index >= node.operands.size())
    throw not_verifiable(
        detail::format("{} has {} operands", to_string(node.kind), node.operands.size()));
  return node.operands[index];
}

void visit_map(expected_output const& output, expected_visitor const& visitor)
{
  auto const parts = components_of(output.type);
  parallel_blocks(output.count, [&](std::size_t begin, std::size_t end, std::size_t thread) {
    auto const program = compile_operand(output.node, output.context, output.count, parts);
    check_parts(program->parts(), output.type);
    for (auto block = begin; block < end; block += program->capacity()) {
      auto const count = std::min(program->capacity(), end - block);
      program->evaluate(block, count);
      for (std::size_t i = 0; i < count; ++i)
        visitor({.thread = thread,
                 .index = block + i,
                 .values = program->values(i),
                 .bounds = program->bounds(i)});
    }
  });
}

void visit_filter(expected_output const& output, expected_visitor const& visitor)
{
  auto const& source = find_source_of_type(output);
  auto const counts = count_selected(output, source);
  parallel_blocks(source.count(), [&](std::size_t begin, std::size_t end, std::size_t thread) {
    selection is_selected(output, source);
    std::size_t index = 0;
    for (std::size_t i = 0; i < thread; ++i) index += counts[i];
    for (auto i = begin; i < end; ++i)
      if (is_selected(i))
        visitor({.thread = thread,
                 .index = index++,
                 .copied = source.bytes.data() + i * source.type.size});
  });
}

void visit_count(expected_output const& output, expected_visitor const& visitor)
{
  std::size_t total = 0;
  for (auto const count : count_selected(output, find_source(output))) total += count;
  auto const value = whole_number(total);
  auto const bound = 0.0;
  check_parts({{.kind = output.type.kind}}, output.type);
  visitor({.values = &value, .bounds = &bound});
}

void visit_sorted(expected_output const& output, expected_visitor const& visitor)
{
  auto const has_values = output.node.operands.size() > 1;
  auto const& keys = find_source(output, 0, 2);
  auto const& source = find_source_of_type(output, has_values ? 1 : 0, 2);
  if (source.count() != keys.count())
    throw not_verifiable(detail::format("{} has {} elements, and {} has {}",
                                        output.node.operands[1].name, source.count(),
                                        output.node.operands[0].name, keys.count()));
  if (output.node.kind == operation::sort)
    (void)element_function(output, keys, 2);  // throws if it does not fit
  else
    (void)element_function(output, keys, 1, exact_number());
  if (!has_values)
    if (auto const sorted = sort_numbers(*output.context.find_hook(output.node.name).hook, keys))
      return visit_copies(*sorted, source.type.size, visitor);
  auto const order = stable_order(output, keys);
  for (std::size_t i = 0; i < order.size(); ++i)
    visitor({.index = i, .copied = source.bytes.data() + order[i] * source.type.size});
}

}  // namespace fatlink::detail
