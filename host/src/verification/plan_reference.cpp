// SPDX-License-Identifier: Apache-2.0
#include "verification/plan_reference.hpp"

#include <algorithm>
#include <thread>

#include "util/process/parallel.hpp"
#include "util/text/format.hpp"
#include "verification/expected_values.hpp"

namespace fatlink {
namespace {

output_verification not_compared(detail::not_verifiable const& reason)
{
  return {.reason = reason.what(),
          .lacks_hook = dynamic_cast<detail::unstated_hook const*>(&reason) != nullptr};
}

/// One more than any thread number of detail::parallel_blocks.
std::size_t most_threads()
{
  return std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
}

std::string text_of(detail::components const& parts, detail::number const* values)
{
  if (parts.size() == 1 && parts.front().name.empty())
    return to_text(parts.front().kind, values[0]);
  std::string list;
  for (std::size_t i = 0; i < parts.size(); ++i)
    list += detail::format("{}{}: {}", i == 0 ? "" : ", ", parts[i].name,
                           to_text(parts[i].kind, values[i]));
  return "{" + list + "}";
}

/// One comparison for each thread.
class comparisons {
 public:
  comparisons(array_view const& actual, detail::components const& parts)
      : list_(most_threads(), detail::output_comparison(actual, parts))
  {
  }
  void compare(expected_element const& element)
  {
    auto& comparison = of(element);
    if (element.copied != nullptr)
      comparison.compare_exactly(element.index, element.copied);
    else
      comparison.compare(element.index, element.values, element.bounds);
  }
  detail::output_comparison& of(expected_element const& element)
  {
    return list_.at(element.thread);
  }
  [[nodiscard]] output_verification total(std::string method) const
  {
    output_verification sum{.method = std::move(method)};
    for (auto const& comparison : list_) sum += comparison.summary();
    return sum;
  }

 private:
  std::vector<detail::output_comparison> list_;
};

/// Of two results, each of which may be off by its bound.
class pair_comparison {
 public:
  pair_comparison(array_view const& first, array_view const& second,
                  detail::components const& parts)
      : first_(first),
        parts_(parts),
        comparisons_(second, parts),
        threads_(most_threads(),
                 {std::vector<detail::number>(parts.size()), std::vector<double>(parts.size())})
  {
  }

  void compare(expected_element const& element)
  {
    if (element.index >= first_.count()) return;
    auto& comparison = comparisons_.of(element);
    auto const* const bytes = first_.bytes.data() + element.index * first_.type.size;
    if (element.copied != nullptr) return comparison.compare_exactly(element.index, bytes);
    auto& [values, bounds] = threads_.at(element.thread);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      values[i] = detail::load(parts_[i].kind, bytes + parts_[i].offset);
      bounds[i] = 2 * element.bounds[i];
    }
    comparison.compare(element.index, values.data(), bounds.data());
  }
  [[nodiscard]] output_verification total(std::string const& method) const
  {
    return comparisons_.total(method + ", twice the bound");
  }

 private:
  struct buffers {
    std::vector<detail::number> values;
    std::vector<double> bounds;
  };
  array_view const& first_;
  detail::components const& parts_;
  comparisons comparisons_;
  std::vector<buffers> threads_;
};

void visit_output(detail::expected_output const& output, expected_visitor const& visitor)
{
  switch (output.node.kind) {
    case operation::fold:
      return detail::visit_fold(output, visitor);
    case operation::scan:
    case operation::exclusive_scan:
      return detail::visit_scan(output, visitor);
    case operation::segmented_fold:
      return detail::visit_segments(output, visitor);
    case operation::fold_runs:
      return detail::visit_run_folds(output, visitor);
    case operation::scan_runs:
      return detail::visit_run_scans(output, visitor);
    case operation::run_lengths:
      return detail::visit_run_lengths(output, visitor);
    case operation::filter:
    case operation::rejected:
    case operation::unique:
    case operation::filter_equal:
    case operation::filter_above:
      return detail::visit_filter(output, visitor);
    case operation::unique_count:
    case operation::count:
    case operation::count_equal:
      return detail::visit_count(output, visitor);
    case operation::sort:
    case operation::sort_by:
    case operation::segmented_sort:
      return detail::visit_sorted(output, visitor);
    case operation::merge:
      return detail::visit_merged(output, visitor);
    case operation::lower_bound:
    case operation::upper_bound:
      return detail::visit_bounds(output, visitor);
    case operation::histogram:
      return detail::visit_histogram(output, visitor);
    default:
      return detail::visit_map(output, visitor);
  }
}

}  // namespace

bool detail::accumulates(operation kind) noexcept
{
  return kind == operation::fold || kind == operation::scan || kind == operation::exclusive_scan ||
         kind == operation::segmented_fold || kind == operation::fold_runs ||
         kind == operation::scan_runs;
}

plan_reference::plan_reference(launch_plan plan, std::vector<transform_reference> transforms,
                               plan_data data)
    : plan_(std::move(plan)), transforms_(std::move(transforms)), data_(std::move(data))
{
}

plan_result const& plan_reference::find(std::string_view output) const
{
  auto const place = std::ranges::find(plan_.results, output, &plan_result::output);
  if (place == plan_.results.end())
    throw detail::not_verifiable(
        detail::format("the plan's \"computes\" does not state what {} is", output));
  return *place;
}

void plan_reference::visit(plan_result const& result, array_view const& actual,
                           expected_visitor const& visitor) const
{
  if (actual.type.kind == scalar_kind::bytes && result.value.kind == operation::map)
    throw detail::not_verifiable("bytes have no numbers that a reference could state");
  detail::program_context const context{.transforms = transforms_, .data = data_};
  detail::expected_output output{.node = result.value,
                                 .context = context,
                                 .type = actual.type,
                                 .count = actual.count(),
                                 .depth = std::nullopt};
  if (auto const depth = data_.depths.find(result.output); depth != data_.depths.end())
    output.depth = static_cast<double>(depth->second);
  auto const& operands = result.value.operands;
  auto const is_of_elements =
      detail::accumulates(result.value.kind) || result.value.kind == operation::map;
  if (is_of_elements || operands.empty() || operands.front().kind != operation::map)
    return visit_output(output, visitor);
  detail::computed_source const source(output);
  visit_output(source.output(), visitor);
}

std::string plan_reference::method_of(plan_result const& result) const
{
  auto text = to_string(result.value);
  if (!detail::accumulates(result.value.kind)) return text;
  for (auto const& transform : transforms_)
    if (transform.find(result.value.name) != nullptr && transform.model != error_model::none)
      return text + detail::format(", error model {}", to_string(transform.model));
  return text;
}

std::optional<double> plan_reference::ulp_tolerance(plan_result const& result,
                                                    detail::components const& parts) const
{
  auto const is_float = [](auto const& part) {
    return part.kind != scalar_kind::bytes && !detail::is_integer(part.kind);
  };
  auto const& operands = result.value.operands;
  auto const has_inner = std::ranges::any_of(
      operands, [](auto const& operand) { return operand.kind == operation::map; });
  if (result.value.kind != operation::map || has_inner || !std::ranges::all_of(parts, is_float))
    return std::nullopt;
  for (auto const& transform : transforms_)
    if (auto const* const hook = transform.find(result.value.name)) {
      auto const& tolerance = hook->tolerance;
      auto const is_of_spacings =
          tolerance.absolute == 0 && tolerance.relative == 0 && tolerance.operands == 0;
      return is_of_spacings ? std::optional(tolerance.ulp) : std::nullopt;
    }
  return std::nullopt;
}

output_verification plan_reference::verify(std::string_view output, array_view const& actual) const
{
  return verify_each(output, std::span(&actual, 1)).front();
}

std::vector<output_verification> plan_reference::verify_each(std::string_view output,
                                                             std::span<array_view const> results,
                                                             bool compares_two) const
try {
  auto const& result = find(output);
  auto const parts = detail::components_of(results.front().type);
  std::vector<comparisons> all;
  for (auto const& actual : results) all.emplace_back(actual, parts);
  std::optional<pair_comparison> pair;
  if (compares_two) pair.emplace(results[0], results[1], parts);
  visit(result, results.front(), [&](expected_element const& element) {
    for (auto& comparison : all) comparison.compare(element);
    if (pair) pair->compare(element);
  });
  std::vector<output_verification> summaries;
  auto const* const argument = plan_.find(output);
  auto const has_length = argument != nullptr && !argument->length.empty();
  for (std::size_t i = 0; i < results.size(); ++i) {
    auto& total = summaries.emplace_back(all[i].total(method_of(result)));
    total.tolerance_ulp = ulp_tolerance(result, parts);
    if (has_length && total.elements < results[i].count())
      compare_lengths(total, total.elements, results[i].count());
  }
  if (pair) summaries.push_back(pair->total(method_of(result)));
  return summaries;
} catch (detail::not_verifiable const& reason) {
  return {results.size() + (compares_two ? 1 : 0), not_compared(reason)};
}

output_verification plan_reference::verify_between(std::string_view output, array_view const& first,
                                                   array_view const& second) const
try {
  auto const& result = find(output);
  if (!(first.type == second.type) || first.count() != second.count())
    return {.reason = "the two results differ in type or size"};
  auto const parts = detail::components_of(first.type);
  pair_comparison pair(first, second, parts);
  visit(result, first, [&](expected_element const& element) { pair.compare(element); });
  return pair.total(method_of(result));
} catch (detail::not_verifiable const& reason) {
  return not_compared(reason);
}

std::vector<std::string> plan_reference::expected_text(std::string_view output,
                                                       array_view const& actual,
                                                       std::size_t most) const
try {
  auto const& result = find(output);
  auto const parts = detail::components_of(actual.type);
  std::vector<std::string> texts(std::min(most, actual.count()));
  std::vector<std::vector<detail::number>> copies(most_threads(),
                                                  std::vector<detail::number>(parts.size()));
  visit(result, actual, [&](expected_element const& element) {
    if (element.index >= texts.size()) return;
    auto const* values = element.values;
    if (element.copied != nullptr) {
      auto& copy = copies.at(element.thread);
      for (std::size_t i = 0; i < parts.size(); ++i)
        copy[i] = detail::load(parts[i].kind, element.copied + parts[i].offset);
      values = copy.data();
    }
    texts[element.index] = text_of(parts, values);
  });
  return texts;
} catch (detail::not_verifiable const&) {
  return {};
}

}  // namespace fatlink
