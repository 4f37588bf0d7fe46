// SPDX-License-Identifier: Apache-2.0
#include "fatlink/catalogue.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fatbin/sidecar.hpp"
#include "fatlink/error.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/ptx_interface.hpp"
#include "preflight/interface_queries.hpp"
#include "util/files/read_file.hpp"
#include "util/limits.hpp"

namespace fatlink {
namespace {

/// A file of the path, and what it holds where it can be read.
struct listed {
  installed_fatbin shown;
  std::optional<fatbin> contents;

  /// The one that its name stands for, and readable.
  [[nodiscard]] bool in_use() const { return contents && shown.hidden_by.empty(); }
};

/// What `input` offers and asks for, by its PTX of whichever target.
ptx_interface const& interface_of_any(fatbin const& input)
{
  return interface_of(input, target("sm_121"), link_mode::ptx);
}

std::vector<std::string> signatures(std::vector<ptx_function> const& functions)
{
  std::vector<std::string> texts;
  for (auto const& function : functions) texts.push_back(to_string(function));
  return texts;
}

std::vector<target> targets_of(fatbin const& input)
{
  std::vector<target> found;
  for (auto const& entry : input.entries())
    if (std::find(found.begin(), found.end(), entry.target) == found.end())
      found.push_back(entry.target);
  return found;
}

std::string summary_of(std::filesystem::path file)
{
  file.replace_extension(".json");
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return {};
  auto const json = detail::read_json(file);
  auto const found = json.find("summary");
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

void describe(installed_fatbin& shown, fatbin const& input)
{
  auto const& interface = interface_of_any(input);
  auto const hooks = detail::hooks_of(interface);
  if (!hooks.empty() && !interface.kernels.empty())
    shown.role = fatbin_role::library;
  else if (!interface.definitions.empty() && interface.kernels.empty())
    shown.role = fatbin_role::transform;
  shown.ident = input.ident();
  shown.targets = targets_of(input);
  shown.symbols = signatures(shown.role == fatbin_role::library ? hooks : interface.definitions);
}

/// The fatbin alone, whatever the .json beside it says; nothing where it is none.
std::optional<fatbin> without_json(std::filesystem::path const& file)
try {
  return fatbin::from_bytes(detail::read_file(file, limits::k_file_bytes, {}), file.string());
} catch (error const&) {
  return std::nullopt;
}

/// One that is refused for its .json is of a kind all the same.
void describe_refused(installed_fatbin& shown)
try {
  if (auto const alone = without_json(shown.file)) describe(shown, *alone);
} catch (error const&) {
}

listed read(std::filesystem::path const& file, search_folder const& folder)
{
  listed found;
  found.shown.name = file.stem().string();
  found.shown.file = file;
  found.shown.folder = folder;
  try {
    auto input = fatbin::read(file);
    describe(found.shown, input);
    found.shown.summary = summary_of(file);
    found.contents = std::move(input);
  } catch (error const& unusable) {
    found.shown.problem = unusable.what();
    describe_refused(found.shown);
  }
  return found;
}

std::vector<listed> read_all(std::vector<search_folder> const& path)
{
  std::vector<listed> all;
  for (auto const& folder : path) {
    std::error_code ignored;
    for (auto const& file : std::filesystem::directory_iterator(folder.path, ignored))
      if (file.path().extension() == ".fatbin") all.push_back(read(file.path(), folder));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](listed const& a, listed const& b) { return a.shown.name < b.shown.name; });
  for (std::size_t i = 1; i < all.size(); ++i) {
    auto const& before = all[i - 1].shown;
    if (before.name == all[i].shown.name)
      all[i].shown.hidden_by = before.hidden_by.empty() ? before.file : before.hidden_by;
  }
  return all;
}

bool same_contract_name(installed_fatbin const& a, installed_fatbin const& b)
{
  return a.ident && b.ident && !a.ident->contract.empty() && a.ident->contract == b.ident->contract;
}

bool fills_a_hook(fatbin const& library, fatbin const& transform)
{
  auto const& hooks = interface_of_any(library).hooks;
  auto const& definitions = interface_of_any(transform).definitions;
  detail::name_set const names(definitions);
  return std::any_of(hooks.begin(), hooks.end(),
                     [&](ptx_function const& hook) { return names.contains(hook.name); });
}

/// What keeps them from working together; a hook or variable left over may be another transform's.
std::vector<finding> obstacles(fatbin const& library, fatbin const& transform)
{
  std::vector const pair{library, transform};
  auto found = preflight_any_target(pair, link_mode::ptx);
  for (auto& other : preflight_any_target(pair, link_mode::lto))
    if (std::none_of(found.begin(), found.end(),
                     [&](finding const& one) { return one.message == other.message; }))
      found.push_back(std::move(other));
  auto const fills = fills_a_hook(library, transform);
  std::erase_if(found, [&](finding const& one) {
    return fills && (one.id == finding_id::missing_hook || one.id == finding_id::missing_variable);
  });
  return found;
}

void find_libraries(listed& transform, std::vector<listed> const& all)
{
  for (auto const& other : all) {
    if (!other.in_use() || other.shown.role != fatbin_role::library) continue;
    if (same_contract_name(transform.shown, other.shown) ||
        fills_a_hook(*other.contents, *transform.contents))
      transform.shown.libraries.push_back(
          {other.shown.name, obstacles(*other.contents, *transform.contents)});
  }
}

}  // namespace

char const* to_string(fatbin_role role) noexcept
{
  switch (role) {
    case fatbin_role::library:
      return "library";
    case fatbin_role::transform:
      return "transform";
    case fatbin_role::other:
      return "other";
  }
  return "unknown";
}

std::vector<installed_fatbin> list_installed(std::vector<search_folder> const& path)
{
  auto all = read_all(path);
  std::vector<installed_fatbin> found;
  for (auto& one : all) {
    if (one.contents && one.shown.role == fatbin_role::transform) find_libraries(one, all);
    found.push_back(one.shown);
  }
  return found;
}

}  // namespace fatlink
