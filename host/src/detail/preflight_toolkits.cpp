// SPDX-License-Identifier: Apache-2.0
// Which toolkit made an input, and whether the nvJitLink at hand reads it. Measured with 12.9,
// 13.0 and 13.5, every producer against every linker (tests/cli/test_toolkits.py): nvJitLink reads
// LTO-IR of its own major version up to its own minor, and PTX of any version up to its own.

#include <charconv>

#include "detail/format.hpp"
#include "detail/preflight_rules.hpp"

namespace fatlink {
namespace {

/// "13.0.88" → 13.0
std::optional<toolkit_version> parse(std::string const& text)
{
  toolkit_version found;
  auto const* const end = text.data() + text.size();
  auto const major = std::from_chars(text.data(), end, found.major);
  if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') return {};
  if (std::from_chars(major.ptr + 1, end, found.minor).ec != std::errc{}) return {};
  return found;
}

/// PTX ISA 9.0, "Release Notes": 8.5 came with 12.5 and 12.6, later ones a step apart.
std::optional<toolkit_version> of_ptx(unsigned major, unsigned minor)
{
  if (major >= 9) return toolkit_version{major + 4, minor};
  if (major == 8) return toolkit_version{12, minor <= 5 ? minor : minor + 1};
  return {};
}

/// LTO-IR's own numbers, as far as they were measured.
std::optional<toolkit_version> of_ltoir(unsigned major, unsigned minor)
{
  if (major == 1 && minor == 64) return toolkit_version{12, 9};
  if (major == 1 && minor == 65) return toolkit_version{13, 0};
  if (major == 1 && minor == 67) return toolkit_version{13, 5};
  return {};
}

/// The toolkit of the entry that would link; of LTO-IR that says nothing, its PTX sibling's.
std::optional<toolkit_version> toolkit_of(fatbin const& input, fatbin_entry const& entry)
{
  if (auto const own = fatlink::toolkit_of(entry)) return own;
  for (auto const& other : input.entries())
    if (other.kind == entry_kind::ptx)
      if (auto const sibling = fatlink::toolkit_of(other)) return sibling;
  return {};
}

finding too_new(fatbin const& input, toolkit_version made, toolkit_version linker, char const* what)
{
  return {
      .id = "toolkit-too-new",
      .severity = severity::error,
      .files = {input.name()},
      .symbol = {},
      .message = detail::format("{} holds {} of CUDA {}, which nvJitLink {} cannot read",
                                input.name(), what, to_string(made), to_string(linker)),
      .hint = detail::format("install nvJitLink {} or newer (package libnvjitlink-{}-{}; fatlink "
                             "doctor shows which is used), or compile it with CUDA {}",
                             to_string(made), made.major, made.minor, to_string(linker))};
}

finding other_major(fatbin const& input, toolkit_version made, toolkit_version linker)
{
  return {.id = "toolkit-major",
          .severity = severity::error,
          .files = {input.name()},
          .symbol = {},
          .message =
              detail::format("{} holds LTO-IR of CUDA {}; nvJitLink {} reads that of CUDA {} alone",
                             input.name(), to_string(made), to_string(linker), linker.major),
          .hint = detail::format("compile it with CUDA {}, or link with --mode ptx", linker.major)};
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
  if (entry.kind == entry_kind::ltoir) return of_ltoir(entry.version_major, entry.version_minor);
  return {};
}

void detail::check_toolkits(preflight_inputs const& inputs, preflight_request const& request,
                            std::vector<finding>& findings)
{
  if (!request.linker) return;
  auto const lto = request.mode == link_mode::lto;
  for (auto const& input : inputs) {
    auto const* entry = input.file->find(lto ? entry_kind::ltoir : entry_kind::ptx, request.target);
    if (entry == nullptr) continue;
    auto const made = toolkit_of(*input.file, *entry);
    if (!made) continue;
    if (lto && made->major != request.linker->major)
      findings.push_back(other_major(*input.file, *made, *request.linker));
    else if (*made > *request.linker)
      findings.push_back(too_new(*input.file, *made, *request.linker, lto ? "LTO-IR" : "PTX"));
  }
}

}  // namespace fatlink
