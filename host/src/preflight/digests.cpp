// SPDX-License-Identifier: Apache-2.0
// Finds inputs whose damage would not be noticed.
#include <algorithm>
#include <string>
#include <string_view>

#include "preflight/rules.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// The file that holds the module `name`: "lib.a" of "lib.a(b.o)", "r.o" of "r.o[2]", else `name`.
std::string_view file_of(std::string_view name)
{
  if (name.ends_with(']')) name = name.substr(0, name.rfind('['));
  if (!name.ends_with(')')) return name;
  std::size_t depth = 0;
  for (auto position = name.size(); position-- > 1;) {
    if (name[position] == ')') ++depth;
    if (name[position] == '(' && --depth == 0) return name.substr(0, position);
  }
  return name;
}

/// `word` as one word of a shell.
std::string shell_word(std::string_view word)
{
  auto const is_plain = [](char letter) {
    constexpr std::string_view k_plain =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:@,";
    return k_plain.find(letter) != std::string_view::npos;
  };
  if (std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
  std::string text = "'";
  for (auto const letter : word)
    text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

/// Of a file with several modules, which are seldom of one translation unit, as pack needs them.
std::string state_digest(std::string_view file)
{
  return detail::format(
      "build it with fatlink_add_fatbin, or state the digest of a copy of {0} that is known to be "
      "good: echo \"{{\\\"sha256\\\": \\\"$(sha256sum < {1} | cut -d' ' -f1)\\\"}}\" > {2}",
      file, shell_word(file), shell_word(std::string(file) + ".json"));
}

std::string remedy(std::string_view name)
{
  if (auto const file = file_of(name); file != name) return state_digest(file);
  return detail::format(
      "build it with fatlink_add_fatbin, or add digests to a copy that is known "
      "to be good: fatlink pack -o FILE.fatbin {}",
      shell_word(name));
}

}  // namespace

void check_digests(preflight_inputs const& inputs, std::vector<finding>& findings)
{
  for (auto const& input : inputs) {
    if (input.file->is_verified()) continue;
    auto const& name = input.file->name();
    findings.push_back(
        {.id = finding_id::unverified_bytes,
         .severity = severity::warning,
         .files = {name},
         .message = detail::format(
             "{} states no digest: damage that can still be read would go unnoticed", name),
         .hint = remedy(name)});
  }
}

}  // namespace fatlink::detail
