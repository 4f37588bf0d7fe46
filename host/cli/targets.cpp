// SPDX-License-Identifier: Apache-2.0
#include "targets.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fatlink/device.hpp"
#include "fatlink/error.hpp"
#include "options.hpp"

namespace fatlink::cli {
namespace {

std::vector<target> native_targets()
{
  std::string reason;
  std::vector<target> targets;
  for (auto const& gpu : list_gpus(reason)) targets.push_back(gpu.target);
  if (!targets.empty()) return targets;
  throw unavailable_error(
      stage::device,
      {.message = fmt::format("target 'native': there is no GPU: {}", reason),
       .input = "native",
       .code = error_code::gpu_unavailable,
       .hint =
           "name the target, for example sm_90, or run this command on the machine with the GPU"});
}

std::vector<std::string> accepted_words()
{
  std::vector<std::string> words{"native", "all"};
  for (auto const& target : known_targets()) words.push_back(target.name());
  return words;
}

/// "sm_" and a number, whether or not the architecture exists.
bool is_spelled_right(std::string const& word)
{
  auto const end = word.find_last_not_of("af");
  return word.starts_with("sm_") && word.find_first_not_of("0123456789", 3) > end;
}

/// `failure` with the nearest word in its message if `word` is misspelt.
usage_error add_suggestion(usage_error const& failure, std::string const& word)
{
  auto details = failure.details();
  auto const is_number = word.find_first_of("0123456789") == 0;
  auto const words = accepted_words();
  auto const meant = is_number ? "sm_" + word : word;
  auto const is_known = std::find(words.begin(), words.end(), meant) != words.end();
  if (!is_spelled_right(word))
    details.message += did_you_mean(is_known ? meant : suggest(words, meant));
  return usage_error(details);
}

target parse_target(std::string const& word)
try {
  return target(word);
} catch (usage_error const& failure) {
  throw add_suggestion(failure, word);
}

std::vector<target> expand(std::string const& word)
{
  if (word == "native") return native_targets();
  if (word == "all") return {known_targets().begin(), known_targets().end()};
  return {parse_target(word)};
}

}  // namespace

std::vector<target> parse_targets(std::vector<std::string> const& words)
{
  std::vector<target> targets;
  for (auto const& word : words)
    for (auto const& expanded : expand(word))
      if (std::find(targets.begin(), targets.end(), expanded) == targets.end())
        targets.push_back(expanded);
  return targets;
}

CLI::Option* add_targets(CLI::App& verb, std::vector<std::string>& words, std::string const& help)
{
  return verb.add_option("--target", words, help)
      ->type_name("TARGET")
      ->delimiter(',')
      ->allow_extra_args(false);
}

}  // namespace fatlink::cli
