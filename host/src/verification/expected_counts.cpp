// SPDX-License-Identifier: Apache-2.0
// The expected results of histograms: how many elements a hook gives each bin.
#include <algorithm>
#include <array>
#include <atomic>

#include "util/process/parallel.hpp"
#include "util/text/format.hpp"
#include "verification/expected_values.hpp"

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

}  // namespace fatlink::detail
