// SPDX-License-Identifier: Apache-2.0
// Checks that an LTO link has something to compile: libNVVM refuses a program without a module.
#include <algorithm>

#include "preflight/finding_limit.hpp"
#include "preflight/linked_entry.hpp"
#include "preflight/rules.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::size_t k_listed_inputs = 3;

/// The mode that links the inputs as they are.
std::string advise_mode(preflight_inputs const& inputs, preflight_request const& request)
{
  auto const links_in = [&](link_mode mode) {
    return std::ranges::all_of(inputs, [&](preflight_input const& input) {
      return linked_entry(*input.file, {request.target, mode, mode == link_mode::ptx}) != nullptr;
    });
  };
  if (links_in(link_mode::sass))
    return "link in sass mode (<link_mode::sass>) without <link_options::allow_calls>";
  if (links_in(link_mode::ptx)) return "link in ptx mode (<link_mode::ptx>)";
  return "compile one of them with nvcc -dlto -fatbin -arch=sm_75 or fatlink compile";
}

}  // namespace

void check_ltoir_parts(preflight_inputs const& inputs, preflight_request const& request,
                       std::vector<finding>& findings)
{
  if (request.mode != link_mode::lto || !request.allow_calls || inputs.empty()) return;
  std::vector<std::string> names;
  for (auto const& input : inputs) {
    auto const* entry = linked_entry(*input.file, choice_of(request));
    if (entry == nullptr || entry->kind == entry_kind::ltoir) return;  // check_entries reports null
    names.push_back(input.file->name());
  }
  findings.push_back(
      {.id = finding_id::no_ltoir,
       .severity = severity::error,
       .files = names,
       .message = detail::format("{}: no LTO-IR to link; an lto link needs one input with it, also "
                                 "if calls are allowed",
                                 list_names(names, k_listed_inputs)),
       .hint = advise_mode(inputs, request)});
}

}  // namespace fatlink::detail
