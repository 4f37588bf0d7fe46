// SPDX-License-Identifier: Apache-2.0
// Finds inputs whose damage would not be noticed.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "input/read_modules.hpp"
#include "preflight/finding_limit.hpp"
#include "preflight/rules.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

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

std::string pack(std::string_view file)
{
  return detail::format(
      "build it with fatlink_add_fatbin, or add digests to a copy that is known "
      "to be good: fatlink pack -o FILE.fatbin {}",
      shell_word(file));
}

/// One finding for `modules` of `file`, which is not `file` itself where there are several.
finding unverified(std::string_view file, std::vector<std::string> modules)
{
  auto const is_file = modules.size() == 1 && modules.front() == file;
  auto const subject = modules.size() == 1 ? modules.front() + " states"
                                           : detail::format("{} ({} modules: {}) states", file,
                                                            modules.size(), list_names(modules));
  return {.id = finding_id::unverified_bytes,
          .severity = severity::warning,
          .files = std::move(modules),
          .message = detail::format(
              "{} no digest: damage that can still be read would go unnoticed", subject),
          .hint = is_file ? pack(file) : state_digest(file)};
}

}  // namespace

void check_digests(preflight_inputs const& inputs, std::vector<finding>& findings)
{
  std::map<std::string_view, std::vector<std::string>> modules;
  std::vector<std::string_view> files;
  for (auto const& input : inputs) {
    if (input.file->is_verified()) continue;
    auto const file = parse_module_name(input.file->name()).file;
    auto& names = modules[file];
    if (names.empty()) files.push_back(file);
    names.push_back(input.file->name());
  }
  for (auto const file : files) findings.push_back(unverified(file, std::move(modules[file])));
}

}  // namespace fatlink::detail
