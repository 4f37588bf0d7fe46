// SPDX-License-Identifier: Apache-2.0
#include "run/verify_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "options.hpp"
#include "plan/components.hpp"
#include "verification/plan_reference.hpp"

namespace fatlink::cli {
namespace {

/// Sizes as arrays of one element, by name.
using size_arrays = std::map<std::string, host_array>;
using loaded_arrays = std::map<std::string, loaded_array>;

/// What one mode computed of a part, in memory.
struct loaded_mode {
  mode_result const& mode;
  loaded_arrays outputs = {};
};

/// What is compared at a time: all of a run, or some rows of it.
struct loaded_part {
  run_data const& data;
  loaded_arrays inputs = {};
  loaded_arrays expected = {};
  std::vector<loaded_mode> modes = {};
};

loaded_arrays load(std::map<std::string, run_array> const& arrays)
{
  loaded_arrays loaded;
  for (auto const& [name, array] : arrays) loaded.emplace(name, array);
  return loaded;
}

/// Of `hook` only.
transform_reference restricted(transform_reference whole, std::string const& hook)
{
  std::erase_if(whole.hooks, [&](hook_reference const& other) { return other.hook != hook; });
  return whole;
}

/// The library's own references hold for hooks that no transform fills.
void remove_filled(transform_reference& library, linked_image const& image)
{
  std::erase_if(library.hooks, [&](hook_reference const& hook) {
    auto const place = std::ranges::find(image.hooks, hook.hook, &hook_fact::name);
    return place != image.hooks.end() && !place->is_default;
  });
}

/// The references of the code in `image`, with the states of this run instead of their defaults.
std::vector<transform_reference> references_in(plan_expectations const& expected,
                                               run_data const& data, linked_image const& image)
{
  auto all = expected.references.list;
  if (expected.references.has_library) remove_filled(all.back(), image);
  std::vector<transform_reference> of_hooks;  // found before those of the same transform in `all`
  for (auto const& argument : expected.plan.arguments) {
    if (argument.role != argument_role::state) continue;
    auto const* const owner = owner_of(argument, all);
    if (owner == nullptr) continue;
    auto& stated = argument.hook.empty() ? all[static_cast<std::size_t>(owner - all.data())]
                                         : of_hooks.emplace_back(restricted(*owner, argument.hook));
    stated.types.default_state = data.states.at(argument.name);
  }
  of_hooks.insert(of_hooks.end(), all.begin(), all.end());
  return of_hooks;
}

size_arrays sizes_as_arrays(run_data const& run)
{
  size_arrays arrays;
  for (auto const& [name, size] : run.sizes) {
    host_array array{.type = scalar_type(scalar_kind::int64)};
    auto const bytes = std::as_bytes(std::span(&size, 1));
    array.bytes.assign(bytes.begin(), bytes.end());
    arrays[name] = std::move(array);
  }
  return arrays;
}

plan_reference reference_of(plan_expectations const& expected, loaded_part const& part,
                            size_arrays const& sizes, mode_result const& mode)
{
  plan_data data{.depths = mode.depths};
  for (auto const& [name, array] : part.inputs) data.arguments[name] = array.view();
  for (auto const& [name, value] : part.data.values) data.arguments[name] = value.view();
  for (auto const& [name, value] : sizes) data.arguments[name] = value.view();
  return {expected.plan, references_in(expected, part.data, mode.image), std::move(data)};
}

/// As k_without_bound says. Elements of the same inputs by the same kernel rarely differ by more.
constexpr hook_tolerance k_tolerance_without_reference{.ulp = 4};

/// Whether an element is computed by calls in a row, whose errors add up.
bool accumulates(launch_plan const& plan, std::string const& output)
{
  auto const place = std::ranges::find(plan.results, output, &plan_result::output);
  if (place == plan.results.end()) return true;  // nothing is known of it
  return detail::accumulates(place->value.kind);
}

bool is_exact(scalar_kind kind)
{
  return kind == scalar_kind::bytes || detail::is_integer(kind);
}

/// A copy whose components are 0, but for those of integers and bytes, or those of floats.
std::vector<std::byte> only(array_view const& array, bool integers)
{
  std::vector<std::byte> bytes(array.bytes.begin(), array.bytes.end());
  for (auto const& part : detail::components_of(array.type))
    if (is_exact(part.kind) != integers)
      for (std::size_t i = 0; i < array.count(); ++i)
        std::memset(bytes.data() + i * array.type.size + part.offset, 0,
                    detail::size_of(part.kind));
  return bytes;
}

/// Integers exactly, floats within k_tolerance_without_reference.
output_verification compare_parts(array_view const& first, array_view const& second)
{
  auto const parts = detail::components_of(first.type);
  auto const count =
      std::ranges::count_if(parts, [](auto const& part) { return is_exact(part.kind); });
  if (count == 0) return compare_outputs(first, second, k_tolerance_without_reference);
  if (count == std::ssize(parts) || first.count() != second.count() || !(first.type == second.type))
    return compare_outputs(first, second, {});
  auto const integers = std::pair(only(first, true), only(second, true));
  auto result = compare_outputs({first.type, integers.first}, {second.type, integers.second}, {});
  if (result.failures != 0) return result;
  auto const floats = std::pair(only(first, false), only(second, false));
  return compare_outputs({first.type, floats.first}, {second.type, floats.second},
                         k_tolerance_without_reference);
}

output_verification compare_by_tolerance(std::string const& no_bound, array_view const& first,
                                         array_view const& second)
{
  auto result = compare_parts(first, second);
  result.method = fmt::format("{}, as there is no bound: {}", k_without_bound, no_bound);
  return result;
}

array_view first_of(array_view const& array, std::size_t count)
{
  return {array.type, array.bytes.first(count * array.type.size)};
}

/// With an array of --expect. Arrays of an output with a length may have different counts.
output_verification compare_expected(plan_reference const& reference, std::string const& output,
                                     array_view const& expected, array_view const& actual)
{
  if (expected.count() != actual.count()) {
    auto const common = std::min(expected.count(), actual.count());
    auto result =
        compare_expected(reference, output, first_of(expected, common), first_of(actual, common));
    compare_lengths(result, expected.count(), actual.count());
    return result;
  }
  auto result = reference.verify_between(output, expected, actual);
  if (result.reason.empty()) return result;
  return compare_by_tolerance(result.reason, expected, actual);
}

/// One output of a run.
struct run_output {
  array_view array;
  std::byte unwritten;

  [[nodiscard]] bool is_unwritten(std::size_t index) const
  {
    return std::ranges::all_of(array.bytes.subspan(index * array.type.size, array.type.size),
                               [&](std::byte byte) { return byte == unwritten; });
  }
};

run_output output_of(loaded_mode const& run, std::string const& output)
{
  return {run.outputs.at(output).view(), run.mode.unwritten};
}

/// `second` with the elements of `first` where neither run wrote one; counts these.
std::vector<std::byte> without_unwritten(run_output const& first, run_output const& second,
                                         std::size_t& count)
{
  std::vector<std::byte> bytes(second.array.bytes.begin(), second.array.bytes.end());
  auto const size = first.array.type.size;
  for (std::size_t i = 0; i < std::min(first.array.count(), second.array.count()); ++i)
    if (first.is_unwritten(i) && second.is_unwritten(i)) {
      std::memcpy(bytes.data() + i * size, first.array.bytes.data() + i * size, size);
      ++count;
    }
  return bytes;
}

bool has_floats(element_type const& type)
{
  return std::ranges::any_of(detail::components_of(type),
                             [](auto const& part) { return !is_exact(part.kind); });
}

/// Of two runs without a bound. Elements that neither wrote are not compared. Where nothing bounds
/// errors that accumulate, a difference of floats is no failure.
output_verification compare_without_bound(std::string const& no_bound, launch_plan const& plan,
                                          std::string const& output, run_output const& first,
                                          run_output const& second)
{
  std::size_t unwritten = 0;
  auto const bytes = without_unwritten(first, second, unwritten);
  if (unwritten != 0 && unwritten == first.array.count())
    return {.reason = "no kernel wrote an element of it"};
  auto result = compare_by_tolerance(no_bound, first.array, {second.array.type, bytes});
  result.elements -= unwritten;
  if (unwritten != 0) result.method += fmt::format("; {} elements were not written", unwritten);
  if (result.failures == 0 || !has_floats(first.array.type) || !accumulates(plan, output))
    return result;
  return {.reason = fmt::format("{} of {} elements differ, by up to {:.3g}; {}", result.failures,
                                result.elements, result.max_abs_error, result.method)};
}

output_verification compare_runs(plan_reference const& reference, launch_plan const& plan,
                                 std::string const& output, run_output const& first,
                                 run_output const& second)
{
  if (first.array.count() != second.array.count()) {  // of an output with a length
    auto const common = std::min(first.array.count(), second.array.count());
    auto result =
        compare_runs(reference, plan, output, {first_of(first.array, common), first.unwritten},
                     {first_of(second.array, common), second.unwritten});
    compare_lengths(result, first.array.count(), second.array.count());
    return result;
  }
  auto result = reference.verify_between(output, first.array, second.array);
  if (result.reason.empty()) return result;
  return compare_without_bound(result.reason, plan, output, first, second);
}

/// An output with one extent has a count: arrays of any dimensions fit. Any count may be expected
/// of one with a length.
/// @throws usage_error the array of --expect has other extents than the output.
void check_extents(plan_argument const& output, run_array const& expected, run_array const& actual)
{
  if (!output.length.empty()) return;
  auto const& name = output.name;
  if (actual.extents.size() == 1 ? expected.count() == actual.count()
                                 : expected.extents == actual.extents)
    return;
  auto const text = [](auto const& extents) {
    return fmt::format("({})", fmt::join(extents, ", "));
  };
  fail_usage(fmt::format("--expect {}: the array has the shape {}, and the output has {}", name,
                         text(expected.extents), text(actual.extents)),
             name, "pass the expected result for these inputs and sizes");
}

/// Of an output whose length is not in the array.
output_verification refuse_length(run_array const& output)
{
  return {.method = "length",
          .elements = output.count(),
          .failures = 1,
          .component = "length",
          .expected = fmt::format("0 to {}", output.count()),
          .actual = output.wrong_length};
}

std::set<std::string> defaults_in(linked_image const& image)
{
  std::set<std::string> names;
  for (auto const& hook : image.hooks)
    if (hook.is_default) names.insert(hook.name);
  return names;
}

/// Compares one part of a run, in all modes.
class part_comparer {
 public:
  part_comparer(plan_expectations const& expected, loaded_part const& part)
      : expected_(expected), part_(part), sizes_(sizes_as_arrays(part.data))
  {
  }

  part_comparison compare()
  {
    part_comparison result{.modes = std::vector<mode_comparisons>(part_.modes.size())};
    for (auto const& [name, array] : part_.modes.front().outputs) {
      compare_with_references(name, result);
      compare_with_expectations(name, result);
    }
    return result;
  }

 private:
  void compare_with_references(std::string const& name, part_comparison& result) const
  {
    auto const has_two = part_.modes.size() == 2;
    if (is_common(name)) {
      auto summaries = verify_together(name, has_two);
      if (has_two) result.between[name] = between(name, std::move(summaries.back()));
      for (std::size_t i = 0; i < part_.modes.size(); ++i)
        result.modes[i].references[name] = std::move(summaries[i]);
      return;
    }
    for (std::size_t i = 0; i < part_.modes.size(); ++i)
      result.modes[i].references[name] = verify(i, name);
    if (has_two)
      result.between[name] =
          compare_runs(reference(0), expected_.plan, name, output_of(part_.modes[0], name),
                       output_of(part_.modes[1], name));
  }

  void compare_with_expectations(std::string const& name, part_comparison& result) const
  {
    auto const expectation = part_.expected.find(name);
    if (expectation == part_.expected.end()) return;
    for (std::size_t i = 0; i < part_.modes.size(); ++i)
      result.modes[i].expectations[name] = compare_expected(
          reference(i), name, expectation->second.view(), part_.modes[i].outputs.at(name).view());
  }

  /// Whether one pass over the expected values serves all modes.
  [[nodiscard]] bool is_common(std::string const& name) const
  {
    auto const& first = part_.modes.front();
    return std::ranges::all_of(part_.modes, [&](loaded_mode const& mode) {
      return mode.mode.outputs.at(name).wrong_length.empty() &&
             mode.outputs.at(name).view().count() == first.outputs.at(name).view().count() &&
             mode.mode.depths == first.mode.depths &&
             defaults_in(mode.mode.image) == defaults_in(first.mode.image);
    });
  }

  /// Of each mode, and of two with each other.
  [[nodiscard]] std::vector<output_verification> verify_together(std::string const& name,
                                                                 bool has_two) const
  {
    std::vector<array_view> views;
    for (auto const& mode : part_.modes) views.push_back(mode.outputs.at(name).view());
    if (expected_.no_reference.empty()) return reference(0).verify_each(name, views, has_two);
    return std::vector<output_verification>(views.size() + (has_two ? 1 : 0),
                                            {.reason = expected_.no_reference});
  }

  /// The comparison of two modes by a bound, or, where `verified` has a reason, without one.
  [[nodiscard]] output_verification between(std::string const& name,
                                            output_verification verified) const
  {
    if (verified.reason.empty()) return verified;
    return compare_without_bound(verified.reason, expected_.plan, name,
                                 output_of(part_.modes[0], name), output_of(part_.modes[1], name));
  }

  [[nodiscard]] output_verification verify(std::size_t mode, std::string const& name) const
  {
    auto const& output = part_.modes[mode].mode.outputs.at(name);
    if (!output.wrong_length.empty()) return refuse_length(output);
    if (!expected_.no_reference.empty()) return {.reason = expected_.no_reference};
    return reference(mode).verify(name, part_.modes[mode].outputs.at(name).view());
  }

  [[nodiscard]] plan_reference reference(std::size_t mode) const
  {
    return reference_of(expected_, part_, sizes_, part_.modes[mode].mode);
  }

  plan_expectations const& expected_;
  loaded_part const& part_;
  size_arrays sizes_;
};

/// Calls a visitor with the data and the results of some rows at a time, or with all of them.
class part_walk {
 public:
  using visitor = std::function<void(loaded_part const&, element_part const& rows)>;

  part_walk(plan_split const& split, run_data const& data, std::span<mode_result const> modes)
      : split_(split), data_(data), modes_(modes)
  {
    if (split.is_by_rows()) rows_ = static_cast<std::size_t>(data.sizes.at(split.size));
  }

  /// `progress` gets the part of the work that is done; may be empty.
  void visit_all(visitor const& visit, std::function<void(double)> const& progress) const
  {
    if (rows_ == 0) return visit_whole(visit);
    auto const count = rows_at_a_time();
    for (std::size_t first = 0; first < rows_; first += count) {
      if (progress) progress(static_cast<double>(first) / static_cast<double>(rows_));
      visit_rows({.first = first, .count = std::min(count, rows_ - first)}, visit);
    }
  }

  /// At most `rows` rows.
  void visit_first(std::size_t rows, visitor const& visit) const
  {
    if (rows_ == 0) return visit_whole(visit);
    visit_rows({.first = 0, .count = std::min(rows_, rows)}, visit);
  }

 private:
  [[nodiscard]] std::size_t rows_at_a_time() const
  {
    std::size_t bytes = 1;
    for (auto const& [name, array] : modes_.front().outputs)
      bytes = std::max(bytes, array.bytes() / rows_);
    return std::max<std::size_t>(piece_bytes(device_kind::cpu) / bytes, 1);
  }

  void visit_whole(visitor const& visit) const
  {
    loaded_part part{.data = data_, .inputs = load(data_.inputs), .expected = load(data_.expected)};
    for (auto const& mode : modes_)
      part.modes.push_back({.mode = mode, .outputs = load(mode.outputs)});
    visit(part, {});
  }

  void visit_rows(element_part const& rows, visitor const& visit) const
  {
    auto const data = part_of(data_, split_, rows);
    loaded_part part{.data = data, .inputs = load(data.inputs), .expected = load(data.expected)};
    for (auto const& mode : modes_) {
      loaded_mode loaded{.mode = mode};
      for (auto const& [name, array] : mode.outputs)
        loaded.outputs.emplace(name, array.part(rows_, rows));
      part.modes.push_back(std::move(loaded));
    }
    visit(part, rows);
  }

  plan_split const& split_;
  run_data const& data_;
  std::span<mode_result const> modes_;
  std::size_t rows_ = 0;  ///< 0: all at once
};

/// "1.5", of a struct "{value: 1.5, index: 2}".
std::string element_text(array_view const& array, std::size_t index)
{
  auto const parts = detail::components_of(array.type);
  auto const* const place = array.bytes.data() + index * array.type.size;
  std::string text;
  for (auto const& part : parts)
    text +=
        fmt::format("{}{}{}", text.empty() ? "" : ", ", part.name.empty() ? "" : part.name + ": ",
                    detail::to_text(part.kind, detail::load(part.kind, place + part.offset)));
  return parts.size() == 1 && parts[0].name.empty() ? text : "{" + text + "}";
}

/// The elements of the inputs from which element `index` of `output` is computed, by rows.
std::map<std::string, std::string> inputs_of(plan_split const& split, loaded_arrays const& inputs,
                                             loaded_array const& output, std::size_t index)
{
  std::map<std::string, std::string> values;
  if (!split.is_by_rows()) return values;
  for (auto const& [name, array] : inputs)
    if (split.divided.contains(name) && array.extents() == output.extents())
      values[name] = element_text(array.view(), index);
  return values;
}

/// Adds the inputs of the first failures.
void add_inputs(plan_split const& split, loaded_part const& part, part_comparison& result)
{
  for (auto const& mode : result.modes)
    for (auto const& [name, comparison] : mode.references)
      if (comparison.failures != 0)
        result.failing_inputs.try_emplace(
            name, inputs_of(split, part.inputs, part.modes.front().outputs.at(name),
                            comparison.first_failure));
}

}  // namespace

void add(comparisons& whole, comparisons const& part)
{
  for (auto const& [name, result] : part) {
    auto const [place, is_first] = whole.try_emplace(name, result);
    if (is_first) continue;
    if (place->second.reason.empty() && result.reason.empty())
      place->second += result;
    else if (result.reason.empty())
      place->second = result;
  }
}

void part_comparison::add(part_comparison const& other)
{
  modes.resize(std::max(modes.size(), other.modes.size()));
  for (std::size_t i = 0; i < other.modes.size(); ++i) {
    cli::add(modes[i].references, other.modes[i].references);
    cli::add(modes[i].expectations, other.modes[i].expectations);
  }
  cli::add(between, other.between);
  for (auto const& [name, inputs] : other.failing_inputs) failing_inputs.try_emplace(name, inputs);
}

void part_comparison::move(std::function<std::size_t(std::string const&)> const& distance)
{
  auto const move_all = [&](comparisons& list) {
    for (auto& [name, comparison] : list) {
      comparison.first_failure += distance(name);
      if (comparison.worst) comparison.worst->index += distance(name);
    }
  };
  for (auto& mode : modes) {
    move_all(mode.references);
    move_all(mode.expectations);
  }
  move_all(between);
}

part_comparison compare_modes(plan_expectations const& expected, plan_split const& split,
                              run_data const& whole, std::vector<mode_result> const& modes,
                              std::function<void(double)> const& progress)
{
  auto const data = within_limits(expected.plan, whole);
  for (auto const& mode : modes)
    for (auto const& [name, array] : data.expected)
      check_extents(*expected.plan.find(name), array, mode.outputs.at(name));
  part_comparison total;
  auto const compare = [&](loaded_part const& part, element_part const& rows) {
    auto result = part_comparer(expected, part).compare();
    add_inputs(split, part, result);
    if (rows.first != 0)
      result.move([&](std::string const& name) {
        return rows.first * (part.modes.front().outputs.at(name).view().count() / rows.count);
      });
    total.add(result);
  };
  part_walk(split, data, modes).visit_all(compare, progress);
  for (auto& mode : total.modes)
    for (auto& [name, result] : mode.references)
      if (!result.reason.empty())
        for (auto const& unused : expected.references.unused) result.reason += "; " + unused;
  return total;
}

comparisons compare_with_cpu(plan_expectations const& expected, plan_split const& split,
                             run_data const& data, mode_result const& reference_device,
                             mode_result const& mode)
{
  return compare_modes(expected, split, data, {reference_device, mode}, {}).between;
}

nlohmann::json first_rows(plan_expectations const& expected, plan_split const& split,
                          run_data const& whole, std::vector<mode_result> const& modes,
                          std::size_t count)
{
  auto const data = within_limits(expected.plan, whole);
  auto rows = nlohmann::json::array();
  auto const add_rows = [&](loaded_part const& part, element_part const&) {
    auto const sizes = sizes_as_arrays(part.data);
    auto const reference = reference_of(expected, part, sizes, modes.front());
    for (auto const& [name, array] : part.modes.front().outputs) {
      auto const view = array.view();
      std::vector<std::string> texts;
      if (expected.no_reference.empty()) texts = reference.expected_text(name, view, count);
      for (std::size_t i = 0; i < std::min(count, view.count()); ++i) {
        nlohmann::json row{
            {"output", name}, {"index", i}, {"inputs", inputs_of(split, part.inputs, array, i)}};
        for (auto const& [mode, outputs] : part.modes)
          if (auto const other = outputs.at(name).view(); i < other.count())
            row[to_string(mode.image.mode)] = element_text(other, i);
        if (i < texts.size()) row["expected"] = texts[i];
        rows.push_back(std::move(row));
      }
    }
  };
  if (count != 0) part_walk(split, data, modes).visit_first(count, add_rows);
  return rows;
}

std::string index_text(std::vector<std::size_t> const& extents, std::size_t index)
{
  std::string text;
  for (std::size_t i = extents.size(); i-- > 0;) {
    auto const part = i == 0 ? index : index % extents[i];
    text = fmt::format("{}{}{}", part, text.empty() ? "" : ", ", text);
    index /= std::max<std::size_t>(extents[i], 1);
  }
  return text;
}

}  // namespace fatlink::cli
