// SPDX-License-Identifier: Apache-2.0
// Checks which entries can be linked: kind, architecture and float flags.
#include <fmt/ranges.h>

#include "preflight/rules.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

std::vector<std::string> targets_of(fatbin const& input, entry_kind kind)
{
  std::vector<std::string> names;
  for (auto const& entry : input.entries())
    if (entry.kind == kind) names.push_back(entry.target.name());
  return names;
}

bool all_specific(fatbin const& input, entry_kind kind)
{
  for (auto const& entry : input.entries())
    if (entry.kind == kind && entry.target.suffix() == 0) return false;
  return true;
}

finding lacks_kind(fatbin const& input, link_mode mode)
{
  auto const lto = mode == link_mode::lto;
  auto const links_otherwise =
      !targets_of(input, lto ? entry_kind::ptx : entry_kind::ltoir).empty();
  return {.id = lto ? finding_id::no_ltoir : finding_id::no_ptx,
          .severity = severity::error,
          .files = {input.name()},
          .message = detail::format("{} holds no {}, which {} mode needs", input.name(),
                                    lto ? "LTO-IR" : "PTX", to_string(mode)),
          .hint = detail::format("{}compile it with nvcc -dlto -fatbin -arch=sm_75",
                                 links_otherwise
                                     ? detail::format("link in {} mode, or ", lto ? "ptx" : "lto")
                                     : std::string{})};
}

finding lacks_target(fatbin const& input, entry_kind kind, target link_target)
{
  auto const specific = all_specific(input, kind);
  auto const names = targets_of(input, kind);
  return {.id = specific ? finding_id::arch_specific : finding_id::arch_too_new,
          .severity = severity::error,
          .files = {input.name()},
          .message = detail::format("{} is compiled for {}, which does not link for {}",
                                    input.name(), fmt::join(names, ", "), link_target.name()),
          .hint = detail::format("compile it for {} or older (ARCHITECTURES {})",
                                 link_target.name(), link_target.number())};
}

std::vector<std::string> unknown_targets(fatbin const& input, entry_kind kind)
{
  std::vector<std::string> names;
  for (auto const& entry : input.entries())
    if (entry.kind == kind && !entry.target.is_known()) names.push_back(entry.target.name());
  return names;
}

/// For an input with entries of `kind` for `names`, which no nvJitLink of CUDA 13 supports.
finding unknown_target(fatbin const& input, entry_kind kind, std::vector<std::string> const& names,
                       fatbin_entry const* linked)
{
  auto const form = kind == entry_kind::ltoir ? "LTO-IR" : "PTX";
  return {.id = finding_id::arch_unknown,
          .severity = linked == nullptr ? severity::error : severity::warning,
          .files = {input.name()},
          .message = detail::format(
              "{} holds {} for {}, which CUDA 13 does not have; {}", input.name(), form,
              fmt::join(names, ", "),
              linked == nullptr
                  ? "no other entry links"
                  : detail::format("its {} for {} is linked", form, linked->target.name())),
          .hint = "compile it for an architecture of nvcc --list-gpu-arch"};
}

}  // namespace

void check_entries(preflight_inputs const& inputs, preflight_request const& request,
                   std::vector<finding>& findings)
{
  auto const kind = request.mode == link_mode::lto ? entry_kind::ltoir : entry_kind::ptx;
  for (auto const& input : inputs) {
    auto const* linked = linked_entry(*input.file, request.target, request.mode);
    auto const unknown = unknown_targets(*input.file, kind);
    if (!unknown.empty()) findings.push_back(unknown_target(*input.file, kind, unknown, linked));
    if (linked != nullptr || !unknown.empty()) continue;
    findings.push_back(targets_of(*input.file, kind).empty()
                           ? lacks_kind(*input.file, request.mode)
                           : lacks_target(*input.file, kind, request.target));
  }
}

void check_float_flags(preflight_inputs const& inputs, preflight_request const& request,
                       std::vector<finding>& findings)
{
  if (request.mode != link_mode::lto) return;
  preflight_input const* reference = nullptr;
  float_flags flags;
  for (auto const& input : inputs) {
    auto const* entry = input.file->find(entry_kind::ltoir, request.target);
    if (entry == nullptr) continue;
    if (reference == nullptr) {
      reference = &input;
      flags = entry->float_flags();
    } else if (flags != entry->float_flags()) {
      findings.push_back({.id = finding_id::float_contract,
                          .severity = severity::error,
                          .files = {reference->file->name(), input.file->name()},
                          .message = detail::format(
                              "{} is compiled with {} and {} with {}; one LTO link has one set",
                              reference->file->name(), to_string(flags), input.file->name(),
                              to_string(entry->float_flags())),
                          .hint = "compile both with the same float flags, or link in ptx mode"});
    }
  }
}

}  // namespace fatlink::detail
