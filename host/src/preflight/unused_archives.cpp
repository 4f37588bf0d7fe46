// SPDX-License-Identifier: Apache-2.0
#include "preflight/unused_archives.hpp"

#include <algorithm>
#include <set>

#include "util/text/format.hpp"
#include "wording.hpp"

namespace fatlink::detail {
namespace {

finding unused_archive(input const& archive)
{
  return {.id = finding_id::unused_input,
          .severity = severity::warning,
          .files = {archive.name()},
          .message = detail::format("{} is not linked: nothing that its members define is missing",
                                    archive.name()),
          .hint = in_words(
              "leave it out, pass the library whose kernel needs it, or link all of its members: "
              "<link_options::whole_archive>")};
}

}  // namespace

std::vector<finding> unused_archives(std::span<input const> inputs, std::span<fatbin const> modules)
{
  std::set<std::byte const*> selected;
  for (auto const& module : modules) selected.insert(module.bytes().data());
  auto const is_selected = [&](fatbin const& module) {
    return selected.contains(module.bytes().data());
  };
  std::vector<finding> findings;
  for (auto const& file : inputs)
    if (file.form() == input_form::archive && std::ranges::none_of(file.modules(), is_selected))
      findings.push_back(unused_archive(file));
  return findings;
}

}  // namespace fatlink::detail
