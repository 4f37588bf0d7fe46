// SPDX-License-Identifier: Apache-2.0
// Versions: whether nvJitLink reads what the toolkits of the inputs wrote. Measured with CUDA 12.9
// and 13.0 to 13.5: nvJitLink reads LTO-IR of its own major version, up to the versions that its
// own toolkit writes, and PTX up to the version of its own toolkit.
// tests/cli/test_check.py compares 12.9, 13.0 and 13.5 with each other.
//
// Which nvJitLink reads LTO-IR, by the versions in its header. Each toolkit writes its own versions
// of the container and of NVVM IR, and both only rise (measured):
//
// toolkit  container  NVVM IR
// 12.9     1.64       2.93
// 13.0     1.65       2.98
// 13.1     1.66       2.107
// 13.2     1.66       2.114
// 13.3     1.67       2.115
// 13.4     1.67       2.120
// 13.5     1.67       2.131
//
// All write debug metadata 3.2. Raw LTO-IR states the three, a compressed entry of a fatbin the
// container only.
//
// The rule: nvJitLink reads no LTO-IR with a container, NVVM IR or debug metadata version above
// those of its own toolkit (measured with 13.0: each alone is NVJITLINK_ERROR_OUTDATED_LIBRARY).
// So versions that the table does not list are still in an order with those that it lists: LTO-IR
// 1.68 is of a toolkit newer than 13.5, and no nvJitLink up to 13.5 reads it. An nvJitLink newer
// than the table may read it; nothing is then reported, and nvJitLink decides. A container below
// 1.64 is of a toolkit older than 12.9, so of another major version than CUDA 13.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "fatbin/entry_facts.hpp"
#include "input/ltoir.hpp"
#include "preflight/entries.hpp"
#include "preflight/rules.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// The versions that LTO-IR states.
struct ltoir_versions {
  ltoir_version container = {};
  std::optional<ltoir_version> ir = {};              ///< of raw LTO-IR only
  std::optional<ltoir_version> debug_metadata = {};  ///< of raw LTO-IR only
};

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

/// The versions of `entry`, an entry with LTO-IR: those of its payload if it is raw, else that of
/// the entry's header.
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

/// The toolkit with the NVVM IR version; without one in the table, the oldest with the container
/// version. Nothing if no row has either.
std::optional<toolkit_version> find_toolkit(ltoir_versions const& versions)
{
  if (auto const* known = row_of_ir(versions); known != nullptr) return known->toolkit;
  if (auto const* known = row_of_container(versions); known != nullptr) return known->toolkit;
  return {};
}

/// Whether `find_toolkit(versions)` is certain: newer toolkits do not write the same versions.
bool is_of_one_toolkit(ltoir_versions const& versions)
{
  return row_of_ir(versions) != nullptr ||
         std::count_if(k_rows.begin(), k_rows.end(), [&](row const& known) {
           return known.container == versions.container;
         }) == 1;
}

/// The newest toolkit of the table whose nvJitLink is too old for `versions`; nothing if each
/// reads them.
std::optional<toolkit_version> newest_too_old(ltoir_versions const& versions)
{
  auto const position = std::find_if(k_rows.rbegin(), k_rows.rend(), [&](row const& known) {
    return !is_read_by(known, versions);
  });
  return position == k_rows.rend() ? std::nullopt : std::optional(position->toolkit);
}

/// The toolkit in the row after that of `toolkit`; nothing after the last.
std::optional<toolkit_version> toolkit_after(toolkit_version toolkit)
{
  auto const position = std::find_if(k_rows.begin(), k_rows.end(),
                                     [&](row const& known) { return known.toolkit > toolkit; });
  return position == k_rows.end() ? std::nullopt : std::optional(position->toolkit);
}

}  // namespace

toolkit_version newest_known_toolkit() noexcept
{
  return k_rows.back().toolkit;
}

namespace {

/// The oldest toolkit of the table, if the container version is below its; else nothing.
std::optional<toolkit_version> older_than(ltoir_versions const& versions)
{
  auto const& oldest = k_rows.front();
  return versions.container < oldest.container ? std::optional(oldest.toolkit) : std::nullopt;
}

}  // namespace
}  // namespace fatlink::detail

namespace fatlink {
namespace {

/// PTX ISA 9.0, "Release Notes": 8.5 came with 12.5 and 12.6, later ones a step apart.
std::optional<toolkit_version> of_ptx(unsigned major, unsigned minor)
{
  if (major >= 9) return toolkit_version{major + 4, minor};
  if (major == 8) return toolkit_version{12, minor <= 5 ? minor : minor + 1};
  return {};
}

bool states_toolkit(fatbin_entry const& entry)
{
  auto const ident = entry.ident();
  return ident && detail::parse_toolkit_version(ident->toolkit);
}

/// How a toolkit relates to a version.
enum class relation { exact, or_newer, newer, older };

struct toolkit_estimate {
  toolkit_version version;
  relation to_version = relation::exact;
};

/// "13.0", "13.3 or newer", "newer than 13.5", "older than 12.9"
std::string to_string(toolkit_estimate const& estimate)
{
  auto const version = fatlink::to_string(estimate.version);
  switch (estimate.to_version) {
    case relation::or_newer:
      return version + " or newer";
    case relation::newer:
      return "newer than " + version;
    case relation::older:
      return "older than " + version;
    case relation::exact:
      break;
  }
  return version;
}

/// The newest toolkit that made a PTX entry of `input`.
std::optional<toolkit_version> newest_ptx(fatbin const& input)
{
  std::optional<toolkit_version> newest;
  for (auto const& entry : input.entries())
    if (auto const version = entry.kind == entry_kind::ptx ? toolkit_of(entry) : std::nullopt)
      newest = newest ? std::max(*newest, *version) : *version;
  return newest;
}

/// The newest toolkit that the notes of a cubin name.
std::optional<toolkit_estimate> toolkit_of_cubin(fatbin const& input, fatbin_entry const& entry)
{
  auto const& toolkit = entry_access::facts_of(input, entry).toolkit;
  if (!toolkit) return {};
  return toolkit_estimate{{toolkit->major, toolkit->minor}};
}

/// Whether newer toolkits than toolkit_of says write the same versions.
bool is_shared_by_toolkits(fatbin_entry const& entry)
{
  return entry.kind == entry_kind::ltoir && !is_of_one_toolkit(detail::versions_of(entry));
}

/// The toolkit of `entry`, by its ident, its version, or other entries: if several toolkits write
/// the same version of LTO-IR, the PTX of the same fatbin determines the toolkit.
std::optional<toolkit_estimate> estimate_toolkit(fatbin const& input, fatbin_entry const& entry)
{
  if (entry.kind == entry_kind::elf) return toolkit_of_cubin(input, entry);
  auto const entry_toolkit = toolkit_of(entry);
  if (entry_toolkit && (states_toolkit(entry) || !is_shared_by_toolkits(entry)))
    return toolkit_estimate{*entry_toolkit};
  auto const sibling = newest_ptx(input);
  if (!entry_toolkit) return sibling ? std::optional(toolkit_estimate{*sibling}) : std::nullopt;
  if (sibling && sibling->major == entry_toolkit->major && *sibling >= *entry_toolkit)
    return toolkit_estimate{*sibling};
  return toolkit_estimate{*entry_toolkit, relation::or_newer};
}

/// "install nvJitLink 13.5 or newer (package libnvjitlink-13-5)"
std::string installation(toolkit_estimate const& toolkit)
{
  auto const version = toolkit.to_version == relation::newer
                           ? detail::toolkit_after(toolkit.version)
                           : std::optional(toolkit.version);
  return version ? detail::format("install nvJitLink {} or newer (package libnvjitlink-{}-{})",
                                  to_string(*version), version->major, version->minor)
                 : "install nvJitLink of the CUDA version that compiled it, or newer";
}

finding too_new(fatbin const& input, toolkit_estimate const& toolkit, toolkit_version linker,
                char const* form)
{
  return {.id = finding_id::toolkit_too_new,
          .severity = severity::error,
          .files = {input.name()},
          .message = detail::format("{} holds {} of CUDA {}, which nvJitLink {} cannot read",
                                    input.name(), form, to_string(toolkit), to_string(linker)),
          .hint = detail::format("{}, or compile it with CUDA {}", installation(toolkit),
                                 to_string(linker))};
}

finding target_too_new(std::span<fatbin const> inputs, target link_target, toolkit_version linker,
                       toolkit_version first)
{
  std::vector<std::string> files;
  for (auto const& input : inputs) files.push_back(input.name());
  auto const is_known = link_target.is_known();
  return {.id = finding_id::target_too_new,
          .severity = severity::error,
          .files = std::move(files),
          .message = detail::format("nvJitLink {} does not link for {}{}", to_string(linker),
                                    link_target.name(),
                                    is_known ? "" : ", which this fatlink does not know"),
          .hint = is_known ? installation({first})
                           : detail::format("install an nvJitLink that links for it, of CUDA {} or "
                                            "newer, or name another target",
                                            to_string(first))};
}

finding other_major(fatbin const& input, toolkit_estimate const& toolkit, toolkit_version linker)
{
  return {.id = finding_id::toolkit_major,
          .severity = severity::error,
          .files = {input.name()},
          .message =
              detail::format("{} holds LTO-IR of CUDA {}; nvJitLink {} reads only that of CUDA {}",
                             input.name(), to_string(toolkit), to_string(linker), linker.major),
          .hint = detail::format("compile it with CUDA {}, or link in ptx mode", linker.major)};
}

/// `stated`, or what the rule above tells more of the toolkit.
std::optional<toolkit_estimate> estimate_by_versions(detail::ltoir_versions const& versions,
                                                     std::optional<toolkit_estimate> const& stated)
{
  auto const too_old = detail::newest_too_old(versions);
  if (too_old && (!stated || stated->version <= *too_old))
    return toolkit_estimate{*too_old, relation::newer};
  auto const oldest = detail::older_than(versions);
  return stated || !oldest ? stated : toolkit_estimate{*oldest, relation::older};
}

bool is_too_new(toolkit_estimate const& toolkit, toolkit_version linker)
{
  return toolkit.to_version == relation::newer ? toolkit.version >= linker
                                               : toolkit.version > linker;
}

std::optional<finding> judge_ltoir(fatbin const& input, fatbin_entry const& entry,
                                   toolkit_version linker)
{
  auto const stated = estimate_toolkit(input, entry);
  if (stated && stated->version.major != linker.major) return other_major(input, *stated, linker);
  auto const estimate = estimate_by_versions(detail::versions_of(entry), stated);
  if (!estimate) return {};
  auto const is_older = estimate->to_version == relation::older;
  if (is_older && linker.major > estimate->version.major)
    return other_major(input, *estimate, linker);
  if (is_older || !is_too_new(*estimate, linker)) return {};
  return linker.major == estimate->version.major
             ? too_new(input, *estimate, linker, detail::kind_text(entry.kind))
             : other_major(input, *estimate, linker);
}

std::optional<finding> judge(fatbin const& input, fatbin_entry const& entry, toolkit_version linker)
{
  if (entry.kind == entry_kind::ltoir) return judge_ltoir(input, entry, linker);
  auto const toolkit = estimate_toolkit(input, entry);
  if (!toolkit || !is_too_new(*toolkit, linker)) return {};
  return too_new(input, *toolkit, linker, detail::kind_text(entry.kind));
}

}  // namespace

std::string to_string(toolkit_version version)
{
  return detail::format("{}.{}", version.major, version.minor);
}

std::optional<toolkit_version> detail::parse_toolkit_version(std::string_view text) noexcept
{
  toolkit_version version;
  auto const* const end = text.data() + text.size();
  auto const major = std::from_chars(text.data(), end, version.major);
  if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') return {};
  if (std::from_chars(major.ptr + 1, end, version.minor).ec != std::errc{}) return {};
  return version;
}

std::optional<toolkit_version> toolkit_of(fatbin_entry const& entry)
{
  if (auto const ident = entry.ident())
    if (auto const stated = detail::parse_toolkit_version(ident->toolkit)) return stated;
  if (entry.kind == entry_kind::ptx) return of_ptx(entry.version_major, entry.version_minor);
  if (entry.kind == entry_kind::ltoir) return detail::find_toolkit(detail::versions_of(entry));
  return {};
}

void detail::check_toolkits(std::span<fatbin const> inputs, preflight_request const& request,
                            std::vector<finding>& findings)
{
  if (!request.linker) return;
  toolkit_version const first{13, request.target.first_cuda_minor()};
  if (first.minor != 0 && *request.linker < first)
    findings.push_back(target_too_new(inputs, request.target, *request.linker, first));
  for (auto const& input : inputs) {
    auto const* entry = linked_entry(input, choice_of(request));
    if (entry == nullptr) continue;
    if (auto result = judge(input, *entry, *request.linker)) findings.push_back(std::move(*result));
  }
}

}  // namespace fatlink
