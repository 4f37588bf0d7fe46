// SPDX-License-Identifier: Apache-2.0
// The expected elements of operations that copy, count or map elements. expected_folds.cpp has the
// others.
#include "verification/expected_values.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "expression/syntax.hpp"
#include "fatlink/error.hpp"
#include "plan/read_plan.hpp"
#include "util/process/parallel.hpp"
#include "util/text/format.hpp"
#include "verification/operand_program.hpp"
#include "verification/sort_numbers.hpp"

namespace fatlink::detail {
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

/// Whether an operation selects an element: filter, rejected, unique, filter_equal, filter_above,
/// and what counts their elements.
class selection {
 public:
  selection(expected_output const& output, array_view const& source) : node_(output.node)
  {
    if (compares_number(node_.kind))
      bins_.emplace(output, source);
    else
      hook_.emplace(output, source, is_unique() ? 2 : 1);
  }

  bool operator()(std::size_t index)
  {
    if (is_unique()) return index == 0 || !(*hook_)(index - 1, index);
    if (!bins_) return (*hook_)(index) == (node_.kind != operation::rejected);
    auto const number = static_cast<std::int64_t>(bins_->bins_of(index).expected);
    return node_.kind == operation::filter_above ? number > node_.offset : number == node_.offset;
  }

 private:
  [[nodiscard]] bool is_unique() const noexcept
  {
    return node_.kind == operation::unique || node_.kind == operation::unique_count ||
           node_.kind == operation::run_lengths;
  }

  computation const& node_;
  std::optional<element_function> hook_ = {};
  std::optional<bin_worker> bins_ = {};
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

/// The places of `keys` in the order of segmented_sort: each segment sorted stably, all other
/// elements where they are.
std::vector<std::size_t> segmented_order(expected_output const& output, array_view const& keys)
{
  auto const offsets = read_offsets(output, keys.count(), 3);
  std::vector<std::size_t> order(keys.count());
  std::iota(order.begin(), order.end(), std::size_t{0});
  auto const segments = offsets.empty() ? 0 : offsets.size() - 1;
  parallel_blocks(segments, [&](std::size_t begin, std::size_t end, std::size_t) {
    element_function less(output, keys, 2);
    for (auto i = begin; i < end; ++i)
      std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(offsets[i]),
                       order.begin() + static_cast<std::ptrdiff_t>(offsets[i + 1]),
                       [&](std::size_t a, std::size_t b) { return less(a, b); });
  });
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

/// Whether the bits of the key are known: of an integer x, those of fatlink::ascending(x) or
/// fatlink::descending(x). A reference only states the order of keys, so the operators of the
/// library are known by their names, ascending_T and descending_T.
bool is_known_key(stated_hook const& stated, scalar_kind element, bool is_descending)
{
  auto const& hook = *stated.hook;
  return is_integer(element) &&
         stated.owner->name ==
             (is_descending ? "descending_" : "ascending_") + std::string(to_string(element)) &&
         hook.result.front().text == (is_descending ? "-" : "") + hook.parameters.front();
}

/// How many bits of the keys sort_by compares.
unsigned compared_bits(expected_output const& output)
{
  auto const& last = output.node.operands.back();
  if (last.kind != operation::low_bits) return 64;
  auto const& size = output.context.find_array(last.operands.front().name);
  auto const bits = load(size.type.kind, size.bytes.data()).whole;
  return static_cast<unsigned>(std::clamp<int128>((bits + 7) / 8 * 8, 8, 64));
}

/// The compared bits of the keys, if these may not be all bits. @throws not_verifiable the bits of
/// the keys are not known.
std::optional<std::vector<std::uint64_t>> lower_keys(expected_output const& output,
                                                     array_view const& source)
{
  auto const bits = compared_bits(output);
  if (bits >= 8 * std::min<std::size_t>(source.type.size, 8)) return std::nullopt;
  auto const stated = output.context.find_hook(output.node.name);
  auto const parts = components_of(source.type);
  auto const is_known = [&](bool is_descending) {
    return parts.size() == 1 && is_known_key(stated, parts.front().kind, is_descending);
  };
  auto const is_descending = is_known(true);
  if (!is_descending && !is_known(false))
    throw not_verifiable(detail::format(
        "the reference of {} states the order of the keys, not their lower {} bits, which are "
        "known only for ascending_T and descending_T of integers",
        output.node.name, bits));
  std::vector<std::uint64_t> keys(source.count());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto const* const element = source.bytes.data() + i * source.type.size;
    auto const number = static_cast<std::uint64_t>(load(parts.front().kind, element).whole);
    keys[i] = (is_descending ? ~number : number) & ((std::uint64_t{1} << bits) - 1);
  }
  return keys;
}

std::vector<std::size_t> stable_order(std::vector<std::uint64_t> const& keys)
{
  return stable_order(
      keys.size(), [&] { return [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; }; });
}

std::vector<std::size_t> stable_order(expected_output const& output, array_view const& source)
{
  if (output.node.kind == operation::segmented_sort) return segmented_order(output, source);
  if (output.node.kind == operation::sort)
    return stable_order(source.count(), [&] { return element_function(output, source, 2); });
  auto const keys = keys_of(output, source);
  key_order const is_before(output);
  return stable_order(keys.size(), [&] {
    return [&](std::size_t a, std::size_t b) { return is_before(keys[a], keys[b]); };
  });
}

/// Visits the first `count` elements of `size` bytes of those in `expected`.
void visit_copies(std::vector<std::byte> const& expected, std::size_t size, std::size_t count,
                  expected_visitor const& visitor)
{
  parallel_blocks(std::min(expected.size() / size, count),
                  [&](std::size_t begin, std::size_t end, std::size_t thread) {
                    for (auto i = begin; i < end; ++i)
                      visitor({.thread = thread, .index = i, .copied = expected.data() + i * size});
                  });
}

/// Element `index` of the output is expected to be exactly `number`.
void visit_number(std::size_t index, std::size_t number, expected_visitor const& visitor,
                  std::size_t thread = 0)
{
  auto const value = whole_number(static_cast<int128>(number));
  auto const bound = 0.0;
  visitor({.thread = thread, .index = index, .values = &value, .bounds = &bound});
}

/// @throws not_verifiable two operands have different numbers of elements.
void require_same_count(expected_output const& output, std::size_t a, std::size_t b)
{
  auto const& operands = output.node.operands;
  auto const& first = output.context.find_array(operands[a].name);
  auto const& second = output.context.find_array(operands[b].name);
  if (first.count() != second.count())
    throw not_verifiable(detail::format("{} has {} elements, and {} has {}", operands[b].name,
                                        second.count(), operands[a].name, first.count()));
}

/// The elements of one array, followed by those of another one.
class joined_arrays {
 public:
  joined_arrays(array_view const& first, array_view const& second)
      : bytes_(first.bytes.begin(), first.bytes.end()), view_{.type = first.type, .bytes = {}}
  {
    if (!(first.type == second.type))
      throw not_verifiable(detail::format("elements of {} are compared with elements of {}",
                                          to_string(first.type), to_string(second.type)));
    bytes_.insert(bytes_.end(), second.bytes.begin(), second.bytes.end());
    view_.bytes = bytes_;
  }
  joined_arrays(joined_arrays const&) = delete;
  joined_arrays& operator=(joined_arrays const&) = delete;

  [[nodiscard]] array_view const& view() const noexcept { return view_; }

 private:
  std::vector<std::byte> bytes_;
  array_view view_;
};

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

not_verifiable inexact_source(computation const& node)
{
  return not_verifiable(detail::format("{} cannot be verified, because {} has a tolerance",
                                       to_string(node.kind), to_string(node.operands.front())));
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

computed_source::computed_source(expected_output const& output)
    : original_(output),
      node_(output.node),
      data_(output.context.data),
      context_{.transforms = output.context.transforms, .data = data_}
{
  auto& source = node_.operands.front();
  auto const count = count_of(source, output.context);
  auto const program = compile_operand(source, output.context, count, std::nullopt);
  auto const& parts = program->parts();
  if (parts.size() != 1 || !parts.front().name.empty())
    throw not_verifiable(
        detail::format("{} of computed structs cannot be verified", to_string(node_.kind)));
  auto const type = scalar_type(parts.front().kind);
  bytes_.resize(count * type.size);
  compute(count, type.size);
  source = {.kind = operation::argument, .name = to_string(source)};
  data_.arguments[source.name] = {.type = type, .bytes = bytes_};
}

void computed_source::compute(std::size_t count, std::size_t size)
{
  auto const& node = original_.node.operands.front();
  parallel_blocks(count, [&](std::size_t begin, std::size_t end, std::size_t) {
    auto const program = compile_operand(node, original_.context, count, std::nullopt);
    for (auto block = begin; block < end; block += program->capacity()) {
      auto const block_count = std::min(program->capacity(), end - block);
      program->evaluate(block, block_count);
      for (std::size_t i = 0; i < block_count; ++i) {
        if (*program->bounds(i) != 0) throw inexact_source(original_.node);
        store(program->parts().front().kind, *program->values(i),
              bytes_.data() + (block + i) * size);
      }
    }
  });
}

expected_output computed_source::output() const
{
  return {.node = node_,
          .context = context_,
          .type = original_.type,
          .count = original_.count,
          .depth = original_.depth};
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
  auto const& keys = find_source(output, 0, 2);
  auto const& source = find_source_of_type(output, output.node.operands.size() - 1, 2);
  require_same_count(output, 0, output.node.operands.size() - 1);
  auto const counts = count_selected(output, keys);
  parallel_blocks(keys.count(), [&](std::size_t begin, std::size_t end, std::size_t thread) {
    selection is_selected(output, keys);
    std::size_t index = 0;
    for (std::size_t i = 0; i < thread; ++i) index += counts[i];
    for (auto i = begin; i < end; ++i)
      if (is_selected(i))
        visitor({.thread = thread,
                 .index = index++,
                 .copied = source.bytes.data() + i * source.type.size});
  });
}

std::vector<std::size_t> find_runs(expected_output const& runs)
{
  auto const& keys = find_source(runs);
  auto const counts = count_selected(runs, keys);
  std::vector<std::size_t> begins(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  parallel_blocks(keys.count(), [&](std::size_t begin, std::size_t end, std::size_t thread) {
    selection is_selected(runs, keys);
    std::size_t index = 0;
    for (std::size_t i = 0; i < thread; ++i) index += counts[i];
    for (auto i = begin; i < end; ++i)
      if (is_selected(i)) begins[index++] = i;
  });
  return begins;
}

void visit_run_lengths(expected_output const& output, expected_visitor const& visitor)
{
  check_parts({{.kind = output.type.kind}}, output.type);
  auto const runs = find_runs(output);
  auto const count = find_source(output).count();
  for (std::size_t i = 0; i < runs.size(); ++i)
    visit_number(i, (i + 1 < runs.size() ? runs[i + 1] : count) - runs[i], visitor);
}

void visit_count(expected_output const& output, expected_visitor const& visitor)
{
  std::size_t total = 0;
  for (auto const count : count_selected(output, find_source(output))) total += count;
  check_parts({{.kind = output.type.kind}}, output.type);
  visit_number(0, total, visitor);
}

void visit_sorted(expected_output const& output, expected_visitor const& visitor)
{
  auto const is_segmented = output.node.kind == operation::segmented_sort;
  auto const has_bits = output.node.operands.back().kind == operation::low_bits;
  std::size_t const most = is_segmented || has_bits ? 3 : 2;
  auto const moved = output.node.operands.size() == most ? (is_segmented ? 2U : 1U) : 0U;
  auto const is_index = output.node.operands[moved].kind == operation::index;
  auto const& keys = find_source(output, 0, most);
  if (is_index)
    check_parts({{.kind = output.type.kind}}, output.type);
  else
    require_same_count(output, 0, moved);
  auto const& source = is_index ? keys : find_source_of_type(output, moved, most);
  if (output.node.kind == operation::sort_by)
    (void)element_function(output, keys, 1, exact_number());  // throws if it does not fit
  else
    (void)element_function(output, keys, 2);
  auto const lower =
      output.node.kind == operation::sort_by ? lower_keys(output, keys) : std::nullopt;
  if (moved == 0 && !is_segmented && !lower)
    if (auto const sorted = sort_numbers(*output.context.find_hook(output.node.name).hook, keys))
      return visit_copies(*sorted, source.type.size, output.count, visitor);
  auto const order = lower ? stable_order(*lower) : stable_order(output, keys);
  for (std::size_t i = 0; i < std::min(order.size(), output.count); ++i)
    if (is_index)
      visit_number(i, order[i], visitor);
    else
      visitor({.index = i, .copied = source.bytes.data() + order[i] * source.type.size});
}

std::optional<std::vector<std::byte>> sort_elements(
    std::vector<transform_reference> const& transforms, std::string const& hook,
    array_view const& array, std::span<std::byte const> state)
try {
  computation const node{.kind = operation::sort,
                         .name = hook,
                         .operands = {{.kind = operation::argument, .name = "array"}}};
  plan_data data;
  data.arguments["array"] = array;
  data.state = state;
  std::vector<std::byte> sorted(array.bytes.size());
  visit_sorted({.node = node,
                .context = {.transforms = transforms, .data = data},
                .type = array.type,
                .count = array.count(),
                .depth = std::nullopt},
               [&](expected_element const& element) {
                 std::copy_n(element.copied, array.type.size,
                             sorted.data() + element.index * array.type.size);
               });
  return sorted;
} catch (not_verifiable const&) {
  return std::nullopt;
}

void visit_merged(expected_output const& output, expected_visitor const& visitor)
{
  auto const& first = find_source_of_type(output, 0, 2);
  joined_arrays const both(first, find_source_of_type(output, 1, 2));
  element_function less(output, both.view(), 2);
  std::vector<std::size_t> order(both.view().count());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::inplace_merge(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(first.count()),
                     order.end(), [&](std::size_t a, std::size_t b) { return less(a, b); });
  for (std::size_t i = 0; i < order.size(); ++i)
    visitor({.index = i, .copied = both.view().bytes.data() + order[i] * first.type.size});
}

void visit_bounds(expected_output const& output, expected_visitor const& visitor)
{
  auto const is_upper = output.node.kind == operation::upper_bound;
  auto const& sorted = find_source(output, 0, 2);
  auto const& values = find_source(output, 1, 2);
  joined_arrays const both(sorted, values);
  check_parts({{.kind = output.type.kind}}, output.type);
  parallel_blocks(values.count(), [&](std::size_t begin, std::size_t end, std::size_t thread) {
    element_function less(output, both.view(), 2);
    for (auto i = begin; i < end; ++i) {
      auto const value = sorted.count() + i;
      std::size_t first = 0;
      for (auto count = sorted.count(); count > 0;) {
        auto const half = count / 2;
        auto const is_before = is_upper ? !less(value, first + half) : less(first + half, value);
        first = is_before ? first + half + 1 : first;
        count = is_before ? count - half - 1 : half;
      }
      visit_number(i, first, visitor, thread);
    }
  });
}

}  // namespace fatlink::detail
