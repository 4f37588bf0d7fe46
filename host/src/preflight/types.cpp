// SPDX-License-Identifier: Apache-2.0
// Inputs whose types preflight cannot read: LTO-IR without PTX of the same architecture. The link
// checks them (linker/check_opaque_inputs.hpp) against what the other inputs state.
#include <fmt/ranges.h>

#include <algorithm>

#include "input/ltoir.hpp"
#include "preflight/linked_entry.hpp"
#include "preflight/rules.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

std::string describe_opaque(preflight_input const& input, preflight_request const& request)
{
  auto const name = linked_entry(*input.file, choice_of(request))->target.name();
  return detail::format("{} holds LTO-IR for {} and no PTX that states its types",
                        input.file->name(), name);
}

/// Whether it is a file of raw LTO-IR, beside which there is no PTX.
bool is_raw(preflight_input const& input)
{
  auto const& entries = input.file->entries();
  return entries.size() == 1 && entries.front().compression == compression::none &&
         is_ltoir(entries.front().payload);
}

std::string advise_compile(preflight_input const& input, preflight_request const& request)
{
  auto const name = linked_entry(*input.file, choice_of(request))->target.name();
  if (is_raw(input))
    return detail::format(
        "raw LTO-IR cannot state them; compile its source to a fatbin, whose PTX does: "
        "nvcc -dlto -fatbin -arch={0} FILE.cu -o FILE.fatbin, or fatlink compile",
        name);
  return detail::format(
      "compile {1} with nvcc -dc -gencode 'arch=compute_{0},code=[compute_{0},lto_{0}]', or with "
      "fatlink compile --arch {0}",
      name.substr(name.find('_') + 1), input.file->name());
}

finding unreadable(preflight_input const& input, preflight_request const& request)
{
  return {.id = finding_id::unreadable_types,
          .severity = severity::warning,
          .files = {input.file->name()},
          .message = detail::format("{}; only the link compares them, by number and width of the "
                                    "parameters (float and int are alike)",
                                    describe_opaque(input, request)),
          .hint = advise_compile(input, request)};
}

finding make_unchecked_types(std::vector<preflight_input> const& inputs,
                             preflight_request const& request)
{
  std::vector<std::string> names;
  for (auto const& input : inputs) names.push_back(input.file->name());
  return {.id = finding_id::unchecked_types,
          .severity = severity::error,
          .files = names,
          .message = detail::format("{}: no input states the types of its functions: each holds "
                                    "LTO-IR without PTX of the same architecture",
                                    fmt::join(names, ", ")),
          .hint = advise_compile(inputs.back(), request)};
}

}  // namespace

void check_types(preflight_inputs const& inputs, preflight_request const& request,
                 std::vector<finding>& findings)
{
  auto const is_opaque = [](preflight_input const& input) { return input.is_opaque; };
  if (inputs.size() > 1 && std::all_of(inputs.begin(), inputs.end(), is_opaque))
    return findings.push_back(make_unchecked_types(inputs, request));
  for (auto const& input : inputs)
    if (input.is_opaque) findings.push_back(unreadable(input, request));
}

}  // namespace fatlink::detail
