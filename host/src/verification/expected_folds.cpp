// SPDX-License-Identifier: Apache-2.0
// The expected results of folds, scans and segmented folds.
#include <algorithm>
#include <cmath>
#include <optional>

#include "util/process/parallel.hpp"
#include "util/text/format.hpp"
#include "verification/expected_values.hpp"
#include "verification/fold_program.hpp"

namespace fatlink::detail {
namespace {

constexpr std::size_t k_row = 1024;  // elements of a scan that follow each other

/// The parts of one thread: the elements, the hook and room for bounds.
class fold_worker {
 public:
  fold_worker(expected_output const& output, std::size_t count)
      : parts_(components_of(output.type)),
        elements_(compile_operand(output.node.operands.at(0), output.context, count, parts_)),
        program_(output.context.find_hook(output.node.name), parts_, output.context.data.state),
        fold_(program_),
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
      elements_->evaluate(i);
      fold_.push(elements_->values(), elements_->bounds());
    }
    return fold_.finish();
  }

  /// Element `index` by itself.
  void start(partial& result, std::size_t index)
  {
    elements_->evaluate(index);
    program_.start(result, elements_->values(), elements_->bounds());
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
  components parts_;
  std::unique_ptr<operand_program> elements_;
  fold_program program_;
  pairwise_fold fold_;
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
  value->evaluate(0);
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

}  // namespace fatlink::detail
