// SPDX-License-Identifier: Apache-2.0
// Checks that nvJitLink reads what the toolkits of the inputs wrote. Measured with CUDA 12.9
// and 13.0 to 13.5: nvJitLink reads LTO-IR of its own major version, up to the container version
// and the NVVM IR version that its own toolkit writes (13.3 to 13.5 write the same container
// version; the IR version shows in raw LTO-IR only), and PTX up to the version of its own toolkit.
// tests/cli/test_check.py compares 12.9, 13.0 and 13.5 with each other.

#include <algorithm>
#include <array>
#include <charconv>

#include "fatbin/entry_facts.hpp"
#include "input/ltoir.hpp"
#include "preflight/linked_entry.hpp"
#include "preflight/rules.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

/// "13.0.88" → 13.0
std::optional<toolkit_version> parse(std::string const& text)
{
  toolkit_version version;
  auto const* const end = text.data() + text.size();
  auto const major = std::from_chars(text.data(), end, version.major);
  if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') return {};
  if (std::from_chars(major.ptr + 1, end, version.minor).ec != std::errc{}) return {};
  return version;
}

/// PTX ISA 9.0, "Release Notes": 8.5 came with 12.5 and 12.6, later ones a step apart.
std::optional<toolkit_version> of_ptx(unsigned major, unsigned minor)
{
  if (major >= 9) return toolkit_version{major + 4, minor};
  if (major == 8) return toolkit_version{12, minor <= 5 ? minor : minor + 1};
  return {};
}

/// Versions of the LTO-IR container, measured with each toolkit: 12.9 writes 1.64, 13.0 1.65,
/// 13.1 and 13.2 both 1.66, 13.3 to 13.5 all 1.67. This is the oldest toolkit that writes one.
std::optional<toolkit_version> of_ltoir(unsigned major, unsigned minor)
{
  if (major == 1 && minor == 64) return toolkit_version{12, 9};
  if (major == 1 && minor == 65) return toolkit_version{13, 0};
  if (major == 1 && minor == 66) return toolkit_version{13, 1};
  if (major == 1 && minor == 67) return toolkit_version{13, 3};
  return {};
}

/// The NVVM IR version that each toolkit writes into the header of LTO-IR, measured. It tells
/// toolkits apart that write one container version; a compressed entry does not show it.
struct ir_of_toolkit {
  unsigned major;
  unsigned minor;
  toolkit_version toolkit;
};
constexpr std::array k_ir_versions{
    ir_of_toolkit{2, 93, {12, 9}},  ir_of_toolkit{2, 98, {13, 0}},  ir_of_toolkit{2, 107, {13, 1}},
    ir_of_toolkit{2, 114, {13, 2}}, ir_of_toolkit{2, 115, {13, 3}}, ir_of_toolkit{2, 120, {13, 4}},
    ir_of_toolkit{2, 131, {13, 5}},
};

/// The toolkit of an entry with raw LTO-IR; nothing for other entries and unknown versions.
std::optional<toolkit_version> of_ltoir_header(fatbin_entry const& entry)
try {
  if (entry.kind != entry_kind::ltoir || entry.compression != compression::none) return {};
  auto const ir = detail::read_ltoir_header(entry.payload, "").ir;
  for (auto const& known : k_ir_versions)
    if (known.major == ir.major && known.minor == ir.minor) return known.toolkit;
  return {};
} catch (format_error const&) {
  return {};
}

/// Whether newer toolkits than of_ltoir says write the same version.
bool is_shared_by_toolkits(fatbin_entry const& entry)
{
  return entry.kind == entry_kind::ltoir && entry.version_major == 1 && entry.version_minor >= 66 &&
         !of_ltoir_header(entry);
}

bool states_toolkit(fatbin_entry const& entry)
{
  auto const ident = entry.ident();
  return ident && parse(ident->toolkit);
}

struct toolkit_estimate {
  toolkit_version version;
  bool is_lower_bound = false;
};

std::string to_string(toolkit_estimate const& estimate)
{
  return fatlink::to_string(estimate.version) + (estimate.is_lower_bound ? " or newer" : "");
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
  return toolkit_estimate{*entry_toolkit, true};
}

finding too_new(fatbin const& input, toolkit_estimate const& toolkit, toolkit_version linker,
                char const* form)
{
  return {.id = finding_id::toolkit_too_new,
          .severity = severity::error,
          .files = {input.name()},
          .message = detail::format("{} holds {} of CUDA {}, which nvJitLink {} cannot read",
                                    input.name(), form, to_string(toolkit), to_string(linker)),
          .hint = detail::format("install nvJitLink {} or newer (package libnvjitlink-{}-{}), "
                                 "or compile it with CUDA {}",
                                 to_string(toolkit.version), toolkit.version.major,
                                 toolkit.version.minor, to_string(linker))};
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

}  // namespace

std::string to_string(toolkit_version version)
{
  return detail::format("{}.{}", version.major, version.minor);
}

std::optional<toolkit_version> toolkit_of(fatbin_entry const& entry)
{
  if (auto const ident = entry.ident())
    if (auto const stated = parse(ident->toolkit)) return stated;
  if (entry.kind == entry_kind::ptx) return of_ptx(entry.version_major, entry.version_minor);
  if (auto const header = of_ltoir_header(entry)) return header;
  if (entry.kind == entry_kind::ltoir) return of_ltoir(entry.version_major, entry.version_minor);
  return {};
}

void detail::check_toolkits(std::span<fatbin const> inputs, preflight_request const& request,
                            std::vector<finding>& findings)
{
  if (!request.linker) return;
  for (auto const& input : inputs) {
    auto const* entry = linked_entry(input, choice_of(request));
    if (entry == nullptr) continue;
    auto const toolkit = estimate_toolkit(input, *entry);
    if (!toolkit) continue;
    auto const is_ltoir = entry->kind == entry_kind::ltoir;
    if (is_ltoir && toolkit->version.major != request.linker->major)
      findings.push_back(other_major(input, *toolkit, *request.linker));
    else if (toolkit->version > *request.linker)
      findings.push_back(too_new(input, *toolkit, *request.linker, describe(entry->kind)));
  }
}

}  // namespace fatlink
