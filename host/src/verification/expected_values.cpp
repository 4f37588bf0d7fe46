// SPDX-License-Identifier: Apache-2.0
#include "verification/expected_values.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "util/process/parallel.hpp"
#include "util/text/format.hpp"
#include "verification/sort_numbers.hpp"

namespace fatlink::detail {
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

/// A hook of one or two elements that says yes or no.
class predicate {
 public:
  predicate(expected_output const& output, array_view const& source, std::size_t parameters)
      : parts_(components_of(source.type)),
        hook_(output.context.find_hook(output.node.name),
              {.operands = std::vector<components>(parameters, parts_),
               .state = output.context.data.state}),
        source_(source),
        first_(parts_.size()),
        second_(parts_.size()),
        result_(hook_.result().size())
  {
  }

  bool operator()(std::size_t index)
  {
    load_element(index, first_);
    hook_.evaluate(std::array<number const*, 1>{first_.data()}, result_.data());
    return hook_.is_true(result_.data());
  }
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

/// Of each thread of parallel_blocks, for how many elements of its block the predicate is `wanted`.
std::vector<std::size_t> count_matches(expected_output const& output, array_view const& source,
                                       bool wanted = true)
{
  std::vector<std::size_t> counts(thread_count(source.count()));
  parallel_blocks(source.count(), [&](std::size_t begin, std::size_t end, std::size_t thread) {
    predicate matches(output, source, 1);
    for (auto i = begin; i < end; ++i)
      if (matches(i) == wanted) ++counts[thread];
  });
  return counts;
}

/// The places of the keys in their order by the hook; those of equal ones ascend.
std::vector<std::size_t> stable_order(expected_output const& output, array_view const& keys)
{
  std::vector<std::size_t> order(keys.count());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::size_t> ends(thread_count(order.size()));
  auto const at = [&](std::size_t index) {
    return order.begin() + static_cast<std::ptrdiff_t>(index);
  };
  parallel_blocks(order.size(), [&](std::size_t begin, std::size_t end, std::size_t thread) {
    predicate less(output, keys, 2);
    ends[thread] = end;
    std::stable_sort(at(begin), at(end), [&](std::size_t a, std::size_t b) { return less(a, b); });
  });
  predicate less(output, keys, 2);
  for (std::size_t i = 1; i < ends.size(); ++i)
    std::inplace_merge(at(0), at(ends[i - 1]), at(ends[i]),
                       [&](std::size_t a, std::size_t b) { return less(a, b); });
  return order;
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
    for (auto i = begin; i < end; ++i) {
      program->evaluate(i);
      visitor(
          {.thread = thread, .index = i, .values = program->values(), .bounds = program->bounds()});
    }
  });
}

void visit_filter(expected_output const& output, expected_visitor const& visitor)
{
  auto const& source = find_source_of_type(output);
  auto const wanted = output.node.kind == operation::filter;
  auto const counts = count_matches(output, source, wanted);
  parallel_blocks(source.count(), [&](std::size_t begin, std::size_t end, std::size_t thread) {
    predicate matches(output, source, 1);
    std::size_t index = 0;
    for (std::size_t i = 0; i < thread; ++i) index += counts[i];
    for (auto i = begin; i < end; ++i)
      if (matches(i) == wanted)
        visitor({.thread = thread,
                 .index = index++,
                 .copied = source.bytes.data() + i * source.type.size});
  });
}

void visit_count(expected_output const& output, expected_visitor const& visitor)
{
  std::size_t total = 0;
  for (auto const count : count_matches(output, find_source(output))) total += count;
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
  predicate const check(output, keys, 2);
  if (!has_values)
    if (auto const sorted = sort_numbers(*output.context.find_hook(output.node.name).hook, keys))
      return visit_copies(*sorted, source.type.size, visitor);
  auto const order = stable_order(output, keys);
  for (std::size_t i = 0; i < order.size(); ++i)
    visitor({.index = i, .copied = source.bytes.data() + order[i] * source.type.size});
}

}  // namespace fatlink::detail
