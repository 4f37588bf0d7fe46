// SPDX-License-Identifier: Apache-2.0
#include "linker/offline_link.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <string>

#include "cache/offline.hpp"
#include "fatlink/error.hpp"
#include "fatlink/linker.hpp"
#include "linker/link_options.hpp"
#include "linker/link_record.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

std::string join(std::vector<std::string> const& words)
{
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

std::string input_names(std::vector<fatbin> const& inputs)
{
  std::vector<std::string> names;
  for (auto const& input : inputs) names.push_back(printable_line(input.name()));
  return join(names);
}

char const* kind_suffix(image_kind emit)
{
  switch (emit) {
    case image_kind::ptx:
      return " (PTX)";
    case image_kind::ltoir:
      return " (LTO-IR)";
    case image_kind::relocatable:
      return " (relocatable)";
    default:
      return "";
  }
}

bool has_link(link_cache& cache, std::vector<fatbin> const& inputs, link_options const& options)
try {
  check_link_options(options);
  return cache.find(link_key(inputs, options, "")) != nullptr;
} catch (usage_error const&) {
  return false;  // this mode has no such link
}

/// "; the layers have it for sm_80", in ascending order; empty if they have it for nothing else.
std::string describe_others(link_cache& cache, std::vector<fatbin> const& inputs,
                            link_options const& options)
{
  std::vector<std::string> found;
  auto other = options;
  for (auto const& target : known_targets()) {
    other.target = target;
    if (has_link(cache, inputs, other)) found.push_back("for " + target.name());
  }
  other.target = options.target;
  for (auto const mode : {link_mode::lto, link_mode::ptx, link_mode::sass}) {
    other.mode = mode;
    if (mode != options.mode && options.emit == image_kind::cubin && has_link(cache, inputs, other))
      found.push_back(format("in {} mode", to_string(mode)));
  }
  return found.empty() ? "" : format(" (the layers have it {})", join(found));
}

/// A word of a shell's command.
std::string quoted(std::string const& word)
{
  auto const is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./=+,:@%").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
  std::string text = "'";
  for (auto const c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// Whether options are set that have no place in the command.
bool has_other_options(link_options options)
{
  options.kernels.clear();
  options.require_inlined = false;
  options.driver_cache = true;
  return std::ranges::any_of(option_effects(),
                             [&](option_effect const& effect) { return effect.is_set(options); });
}

/// Without names, the command would keep only the kernels of a launch plan, if there is one.
std::string kernel_words(std::vector<fatbin> const& inputs, link_options const& options)
{
  std::string words;
  for (auto const& kernel : options.kernels) words += " --kernel " + quoted(kernel);
  auto const sidecar = std::filesystem::path(inputs.front().name()).replace_extension(".json");
  std::error_code ignored;
  if (words.empty() && std::filesystem::exists(sidecar, ignored)) words = " --all-kernels";
  return words;
}

/// The fatlink cache warm command that makes this link; empty if there is none.
std::string warm_command(std::vector<fatbin> const& inputs, link_options const& options)
{
  if (has_other_options(options)) return {};
  auto command = format("fatlink cache warm --target {} --mode {} --emit {} --layer FOLDER",
                        options.target.name(), to_string(options.mode), to_string(options.emit));
  command += kernel_words(inputs, options);
  for (auto const& input : inputs) {
    auto const file = file_of(input);
    if (file.empty()) return {};
    command += ' ' + quoted(file);
  }
  return command;
}

}  // namespace

void refuse_link_offline(std::shared_ptr<link_cache> const& cache,
                         std::vector<fatbin> const& inputs, link_options const& options)
{
  auto const subject =
      format("the {} link of {} for {}{}", to_string(options.mode), input_names(inputs),
             options.target.name(), kind_suffix(options.emit));
  auto const& library = inputs.front().name();
  if (options.emit != image_kind::cubin && options.emit != image_kind::ptx)
    cache::refuse_offline(
        stage::linker, "no cache layer can have " + subject, library,
        "link it before, on a machine with nvJitLink, and pass the fatbin as an input");
  auto const has_layers = cache && !cache->settings().layers.empty();
  auto const others = has_layers ? describe_others(*cache, inputs, options) : "";
  auto hint = cache::describe_layer(warm_command(inputs, options));
  if (!cache) hint = "<set linker_settings::cache>; " + hint;
  cache::refuse_offline(stage::linker,
                        format("{} {}{}", cache::describe_miss(cache), subject, others), library,
                        std::move(hint));
}

void refuse_check_offline(std::vector<fatbin> const& inputs)
{
  cache::refuse_offline(stage::linker,
                        format("the links that check {} need nvJitLink", input_names(inputs)),
                        inputs.front().name(), "check it without links: <preflight>");
}

}  // namespace fatlink::detail
