// SPDX-License-Identifier: Apache-2.0
#include "fatlink/catalogue.hpp"

#include <algorithm>

#include "fatbin/entry_facts.hpp"
#include "fatbin/ident.hpp"
#include "fatbin/sidecar.hpp"
#include "fatlink/error.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/ptx_interface.hpp"
#include "preflight/symbols.hpp"
#include "util/files/read_file.hpp"
#include "util/limits.hpp"

namespace fatlink {
namespace {

using detail::interface_of_any;

/// A fatbin in a folder of the search path, with its contents if it could be read.
struct catalogue_entry {
  installed_fatbin description;
  std::optional<fatbin> contents;

  /// Whether its name selects it, rather than a fatbin of the same name in an earlier folder.
  [[nodiscard]] bool in_use() const { return contents && description.hidden_by.empty(); }
};

std::vector<std::string> signatures(std::vector<ptx_function> const& functions)
{
  std::vector<std::string> texts;
  for (auto const& function : functions) texts.push_back(to_string(function));
  return texts;
}

std::vector<target> targets_of(fatbin const& input)
{
  std::vector<target> targets;
  for (auto const& entry : input.entries())
    if (std::find(targets.begin(), targets.end(), entry.target) == targets.end())
      targets.push_back(entry.target);
  return targets;
}

std::string summary_of(fatbin const& file)
{
  auto const& sidecar = entry_access::sidecar_of(file);
  if (!sidecar) return {};
  auto const summary = sidecar->json().find("summary");
  return summary != sidecar->json().end() && summary->is_string() ? summary->get<std::string>()
                                                                  : std::string{};
}

/// The hooks of its contract for which a library has a default definition.
std::vector<ptx_function> default_hooks(fatbin const& input, ptx_interface const& interface)
{
  std::vector<ptx_function> defaults;
  if (!input.ident()) return defaults;
  for (auto const& function : interface.weak)
    if (input.ident()->hooks.contains(function.name)) defaults.push_back(function);
  return defaults;
}

void describe_contents(installed_fatbin& description, fatbin const& input)
{
  auto const& interface = interface_of_any(input);
  auto hooks = detail::hooks_of(interface);
  if (!interface.kernels.empty())
    for (auto& hook : default_hooks(input, interface)) hooks.push_back(std::move(hook));
  if (!hooks.empty() && !interface.kernels.empty())
    description.role = fatbin_role::library;
  else if (!interface.definitions.empty() && interface.kernels.empty())
    description.role = fatbin_role::transform;
  description.ident = input.ident();
  description.targets = targets_of(input);
  description.symbols =
      signatures(description.role == fatbin_role::library ? hooks : interface.definitions);
}

/// The fatbin without the check against its sidecar; nothing if it is not a fatbin.
std::optional<fatbin> without_json(std::filesystem::path const& file)
try {
  return fatbin::from_bytes(detail::read_file(file, limits::k_file_bytes, {}), file.string());
} catch (error const&) {
  return std::nullopt;
}

/// The role and symbols of a fatbin that is refused because of its sidecar.
void describe_refused(installed_fatbin& description)
try {
  if (auto const contents = without_json(description.file))
    describe_contents(description, *contents);
} catch (error const&) {
}

catalogue_entry read(std::filesystem::path const& file, search_folder const& folder)
{
  catalogue_entry result;
  result.description.name = file.stem().string();
  result.description.file = file;
  result.description.folder = folder;
  try {
    auto input = fatbin::read(file);
    describe_contents(result.description, input);
    result.description.summary = summary_of(input);
    result.contents = std::move(input);
  } catch (error const& unusable) {
    result.description.problem = unusable.what();
    describe_refused(result.description);
  }
  return result;
}

std::vector<catalogue_entry> read_all(std::vector<search_folder> const& path)
{
  std::vector<catalogue_entry> fatbins;
  for (auto const& folder : path) {
    for (auto const& file : detail::list_folder(folder.path))
      if (file.extension() == ".fatbin") fatbins.push_back(read(file, folder));
  }
  std::stable_sort(fatbins.begin(), fatbins.end(),
                   [](catalogue_entry const& a, catalogue_entry const& b) {
                     return a.description.name < b.description.name;
                   });
  for (std::size_t i = 1; i < fatbins.size(); ++i) {
    auto const& before = fatbins[i - 1].description;
    if (before.name == fatbins[i].description.name)
      fatbins[i].description.hidden_by = before.hidden_by.empty() ? before.file : before.hidden_by;
  }
  return fatbins;
}

bool fills_a_hook(fatbin const& library, fatbin const& transform)
{
  auto const& hooks = interface_of_any(library).hooks;
  auto const& definitions = interface_of_any(transform).definitions;
  detail::name_set const names(definitions);
  return std::any_of(hooks.begin(), hooks.end(),
                     [&](ptx_function const& hook) { return names.contains(hook.name); });
}

/// The findings that prevent a link of the two. Hooks and variables that `transform` leaves
/// undefined are not among them, because another transform may define them.
std::vector<finding> obstacles(fatbin const& library, fatbin const& transform)
{
  std::vector const pair{library, transform};
  auto findings = preflight_any_target(pair, {.mode = link_mode::ptx});
  for (auto& lto_finding : preflight_any_target(pair, {.mode = link_mode::lto}))
    if (std::none_of(findings.begin(), findings.end(), [&](finding const& ptx_finding) {
          return ptx_finding.message == lto_finding.message;
        }))
      findings.push_back(std::move(lto_finding));
  auto const fills = fills_a_hook(library, transform);
  std::erase_if(findings, [&](finding const& entry) {
    return fills &&
           (entry.id == finding_id::missing_hook || entry.id == finding_id::missing_variable);
  });
  return findings;
}

/// Whether the two belong together: by their contracts, where both state one. Libraries of several
/// contracts have hooks of the same name.
bool belongs_to(catalogue_entry const& transform, catalogue_entry const& library)
{
  if (detail::states_contract(transform.description.ident) &&
      detail::states_contract(library.description.ident))
    return detail::takes_contract(*library.description.ident, *transform.description.ident);
  return fills_a_hook(*library.contents, *transform.contents);
}

void find_libraries(catalogue_entry& transform, std::vector<catalogue_entry> const& fatbins)
{
  for (auto const& library : fatbins) {
    if (!library.in_use() || library.description.role != fatbin_role::library) continue;
    if (belongs_to(transform, library))
      transform.description.libraries.push_back(
          {library.description.name, obstacles(*library.contents, *transform.contents)});
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
  auto fatbins = read_all(path);
  std::vector<installed_fatbin> result;
  for (auto& candidate : fatbins) {
    if (candidate.contents && candidate.description.role == fatbin_role::transform)
      find_libraries(candidate, fatbins);
    result.push_back(candidate.description);
  }
  return result;
}

}  // namespace fatlink
