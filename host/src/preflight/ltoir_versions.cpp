// SPDX-License-Identifier: Apache-2.0
#include "preflight/ltoir_versions.hpp"

#include <algorithm>
#include <array>

namespace fatlink::detail {
namespace {

struct row {
  toolkit_version toolkit;
  ltoir_version container;
  ltoir_version ir;
};

constexpr std::array k_rows{
    row{{12, 9}, {1, 64}, {2, 93}},  row{{13, 0}, {1, 65}, {2, 98}},
    row{{13, 1}, {1, 66}, {2, 107}}, row{{13, 2}, {1, 66}, {2, 114}},
    row{{13, 3}, {1, 67}, {2, 115}}, row{{13, 4}, {1, 67}, {2, 120}},
    row{{13, 5}, {1, 67}, {2, 131}},
};
constexpr ltoir_version k_debug_metadata{3, 2};

row const* find_row(bool (*matches)(row const&, ltoir_version), ltoir_version version)
{
  auto const position = std::find_if(k_rows.begin(), k_rows.end(),
                                     [&](row const& known) { return matches(known, version); });
  return position == k_rows.end() ? nullptr : &*position;
}

row const* row_of_ir(ltoir_versions const& versions)
{
  auto const has_ir = [](row const& known, ltoir_version version) { return known.ir == version; };
  return versions.ir ? find_row(has_ir, *versions.ir) : nullptr;
}

row const* row_of_container(ltoir_versions const& versions)
{
  return find_row(
      [](row const& known, ltoir_version version) { return known.container == version; },
      versions.container);
}

bool is_read_by(row const& known, ltoir_versions const& versions)
{
  return versions.container <= known.container && (!versions.ir || *versions.ir <= known.ir) &&
         (!versions.debug_metadata || *versions.debug_metadata <= k_debug_metadata);
}

}  // namespace

ltoir_versions versions_of(fatbin_entry const& entry)
{
  ltoir_versions const stated{.container = {entry.version_major, entry.version_minor}};
  if (entry.compression != compression::none) return stated;
  try {
    auto const header = read_ltoir_header(entry.payload, "");
    return {
        .container = header.container, .ir = header.ir, .debug_metadata = header.debug_metadata};
  } catch (format_error const&) {
    return stated;
  }
}

std::optional<toolkit_version> toolkit_of(ltoir_versions const& versions)
{
  if (auto const* known = row_of_ir(versions); known != nullptr) return known->toolkit;
  if (auto const* known = row_of_container(versions); known != nullptr) return known->toolkit;
  return {};
}

bool is_of_one_toolkit(ltoir_versions const& versions)
{
  return row_of_ir(versions) != nullptr ||
         std::count_if(k_rows.begin(), k_rows.end(), [&](row const& known) {
           return known.container == versions.container;
         }) == 1;
}

std::optional<toolkit_version> newest_too_old(ltoir_versions const& versions)
{
  auto const position = std::find_if(k_rows.rbegin(), k_rows.rend(), [&](row const& known) {
    return !is_read_by(known, versions);
  });
  return position == k_rows.rend() ? std::nullopt : std::optional(position->toolkit);
}

std::optional<toolkit_version> toolkit_after(toolkit_version toolkit)
{
  auto const position = std::find_if(k_rows.begin(), k_rows.end(),
                                     [&](row const& known) { return known.toolkit > toolkit; });
  return position == k_rows.end() ? std::nullopt : std::optional(position->toolkit);
}

toolkit_version newest_known_toolkit() noexcept
{
  return k_rows.back().toolkit;
}

std::optional<toolkit_version> older_than(ltoir_versions const& versions)
{
  auto const& oldest = k_rows.front();
  return versions.container < oldest.container ? std::optional(oldest.toolkit) : std::nullopt;
}

}  // namespace fatlink::detail
