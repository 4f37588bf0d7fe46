// SPDX-License-Identifier: Apache-2.0
#include "run/part_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "run/verify_plan.hpp"

namespace fatlink::cli {
namespace {

/// The number of elements of output `name` before those of a part, whose results are `modes`.
std::size_t count_before(std::vector<mode_result> const& modes, std::string const& name,
                         element_part const& rows)
{
  return rows.first * (modes.front().outputs.at(name).count() / rows.count);
}

/// `results` of a part whose elements begin with row `rows.first` of the whole.
comparisons moved(comparisons results, plan_split const& split, plan_part const& part,
                  element_part const& rows)
{
  for (auto& [name, result] : results)
    if (split.divided.contains(name)) result.first_failure += count_before(part.modes, name, rows);
  return results;
}

/// Adds the comparisons of a part to those of all.
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

/// "53" or "1, 0" of a part that begins with row `first`.
std::string moved_index(std::string const& index, std::size_t first)
{
  auto const comma = std::min(index.find(','), index.size());
  return std::to_string(std::stoull(index.substr(0, comma)) + first) + index.substr(comma);
}

/// Adds the elements of a part that are among the first `printed` of a divided output.
void add_first_elements(plan_summary const& part, plan_split const& split, element_part const& rows,
                        std::size_t printed, devices_run& run)
{
  std::map<std::string, std::size_t> counts;  // elements of `part`, by output
  for (auto row : first_elements(part)) {
    auto const output = row["output"].get<std::string>();
    if (split.added.contains(output)) continue;
    if (count_before(part.modes, output, rows) + counts[output]++ >= printed) continue;
    row["index"] = moved_index(row["index"].get<std::string>(), rows.first);
    run.first_results.push_back(std::move(row));
  }
}

/// Adds unsigned or two's complement numbers of `size` bytes, as the devices count.
void add_counts(host_array& sum, host_array const& part)
{
  auto const size = sum.type.size;
  for (std::size_t i = 0; i < sum.bytes.size(); i += size) {
    std::uint64_t total = 0;
    std::uint64_t count = 0;
    std::memcpy(&total, sum.bytes.data() + i, size);
    std::memcpy(&count, part.bytes.data() + i, size);
    total += count;
    std::memcpy(sum.bytes.data() + i, &total, size);
  }
}

void append(host_array& whole, host_array const& part)
{
  whole.extents.front() += part.extents.front();
  whole.bytes.insert(whole.bytes.end(), part.bytes.begin(), part.bytes.end());
}

/// The first elements of outputs that are sums.
void add_first_sums(plan_split const& split, std::vector<plan_part> const& parts,
                    std::size_t printed, devices_run& run)
{
  plan_summary sums{.printed = printed};
  for (std::size_t mode = 0; mode < run.modes.size(); ++mode) {
    mode_result whole{.image = {.mode = run.modes[mode]}};
    for (auto const& name : split.added)
      whole.outputs[name] = whole_output(split, parts, name, mode);
    sums.modes.push_back(std::move(whole));
  }
  for (auto& row : first_elements(sums)) run.first_results.push_back(std::move(row));
}

}  // namespace

void verify_parts(prepared_job const& job, plan_split const& split, std::vector<plan_part>& parts,
                  std::size_t printed, devices_run& run)
{
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto& part = parts[i];
    if (part.modes.empty()) continue;
    auto& row = run.devices[i];
    auto const most = printed - std::min(printed, row.part.first);  // of a part to print
    plan_summary summary{.plan = job.plan, .modes = std::move(part.modes), .printed = most};
    verify_modes({job.plan, part.data, job.references}, summary, most);
    if (most != 0) add_first_elements(summary, split, row.part, printed, run);
    part.modes = std::move(summary.modes);
    for (auto const& mode : part.modes)
      row.modes.push_back({.load_ms = mode.load_ms,
                           .run_ms = mode.run_ms,
                           .measured = mode.measured,
                           .references = moved(mode.verifications, split, part, row.part),
                           .expectations = moved(mode.expectations, split, part, row.part)});
    add(run.between, moved(std::move(summary.between), split, part, row.part));
  }
  auto const has_part =
      std::ranges::any_of(parts, [](plan_part const& part) { return !part.modes.empty(); });
  if (printed != 0 && !split.added.empty() && has_part) add_first_sums(split, parts, printed, run);
}

host_array whole_output(plan_split const& split, std::vector<plan_part> const& parts,
                        std::string const& name, std::size_t mode)
{
  std::optional<host_array> whole;
  for (auto const& part : parts) {
    if (part.modes.empty()) continue;
    auto const& array = part.modes[mode].outputs.at(name);
    if (!whole)
      whole = array;
    else if (split.added.contains(name))
      add_counts(*whole, array);
    else
      append(*whole, array);
  }
  return whole.value();
}

}  // namespace fatlink::cli
