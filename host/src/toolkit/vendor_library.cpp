// SPDX-License-Identifier: Apache-2.0
#include "toolkit/vendor_library.hpp"

#include <algorithm>
#include <set>

#include "toolkit/find_by_loader.hpp"
#include "toolkit/library_identity.hpp"
#include "util/files/installed_files.hpp"
#include "util/files/path_lookup.hpp"
#include "util/process/environment.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {

namespace fs = std::filesystem;

std::optional<std::string> path_of(library_candidate const& candidate)
{
  return candidate.path.find('/') == std::string::npos ? find_by_loader(candidate.path)
                                                       : std::optional(candidate.path);
}

namespace {

constexpr char const* k_default_toolkit = "/usr/local/cuda";

/// A folder that may hold a toolkit, or what wheels install of one.
struct toolkit_root {
  fs::path folder;
  std::string reason;
  bool is_wheel = false;
};

/// Where the vendor's wheels of CUDA 13 put their files in a Python environment, for every minor
/// version of Python: lib/python3.12/site-packages/nvidia/cu13.
std::vector<fs::path> wheel_roots(fs::path const& environment)
{
  constexpr char const* k_wheels = "site-packages/nvidia/cu13";
  std::vector<fs::path> folders;
  for (auto const& entry : list_folder(environment / "lib"))
    if (entry.filename().string().starts_with("python3.")) folders.push_back(entry / k_wheels);
  if (folders.empty()) folders.push_back(environment / "lib/python3.*" / k_wheels);
  std::sort(folders.begin(), folders.end());
  return folders;
}

void append_wheels(std::vector<toolkit_root>& roots, fs::path const& environment,
                   char const* reason)
{
  for (auto const& folder : wheel_roots(environment)) roots.push_back({folder, reason, true});
}

/// Rule 2. Only folders that are a Python package: the folder above another prefix, such as /tmp,
/// may be one that every user can write to.
std::vector<toolkit_root> roots_beside_package()
{
  std::vector<toolkit_root> roots;
  std::error_code ignored;
  for (auto const& prefix : installation_prefixes())
    if (fs::is_regular_file(prefix / "__init__.py", ignored))
      roots.push_back({prefix.parent_path() / "nvidia/cu13", "beside the Python package", true});
  return roots;
}

/// Rules 4 and 5.
std::vector<toolkit_root> roots_in_environment()
{
  std::vector<toolkit_root> roots;
  for (auto const* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (auto const root = environment(variable); !root.empty())
      roots.push_back({root, detail::format("${}", variable)});
  if (auto const root = environment("VIRTUAL_ENV"); !root.empty())
    append_wheels(roots, root, "$VIRTUAL_ENV");
  if (auto const root = environment("CONDA_PREFIX"); !root.empty()) {
    roots.push_back({root, "$CONDA_PREFIX"});
    append_wheels(roots, root, "$CONDA_PREFIX");
  }
  return roots;
}

/// The file of a candidate with symbolic links resolved; it need not exist.
fs::path real_file(library_candidate const& candidate)
{
  auto const path = path_of(candidate).value_or(candidate.path);
  std::error_code failure;
  auto file = fs::weakly_canonical(path, failure);
  return failure ? fs::path(path) : file;
}

/// Removes candidates whose file an earlier candidate has.
std::vector<library_candidate> without_duplicates(std::vector<library_candidate> const& candidates)
{
  std::set<fs::path> files;
  std::vector<library_candidate> unique;
  for (auto const& candidate : candidates)
    if (files.insert(real_file(candidate)).second) unique.push_back(candidate);
  return unique;
}

class search {
 public:
  explicit search(vendor_library const& library) : library_(library) {}

  std::vector<library_candidate> places()
  {
    for (auto const& root : roots_beside_package()) add_root(root);
    auto const* reason = "beside the program";
    for (auto const& prefix : installation_prefixes()) {
      for (auto const* folder : {"lib/fatlink", "lib"}) add(prefix / folder, reason);
      reason = "beside libfatlink.so";
    }
    for (auto const& root : roots_in_environment()) add_root(root);
    places_.push_back({library_.name, "dynamic loader", "not tried"});
    add(fs::path(k_default_toolkit) / library_.folders.front(), "default toolkit");
    return std::move(places_);
  }

 private:
  void add(fs::path const& folder, std::string const& reason)
  {
    places_.push_back({(folder / library_.name).string(), reason, "not tried"});
  }
  void add_root(toolkit_root const& root)
  {
    if (root.is_wheel)
      add(root.folder / library_.wheel_folder, root.reason);
    else
      for (auto const* folder : library_.folders) add(root.folder / folder, root.reason);
  }

  vendor_library const& library_;
  std::vector<library_candidate> places_;
};

std::vector<library_candidate> all_candidates(vendor_library const& library)
{
  if (auto const named = environment(library.variable); !named.empty())
    return {{named, detail::format("${}", library.variable), "not tried"}};
  return search(library).places();
}

std::string outcomes_of(std::vector<library_candidate> const& candidates)
{
  std::string text;
  for (auto const& candidate : candidates)
    text += detail::format("{} ({}): {}\n", candidate.path, candidate.reason, candidate.outcome);
  return text;
}

}  // namespace

std::vector<library_candidate> list_candidates(vendor_library const& library)
{
  return without_duplicates(all_candidates(library));
}

std::optional<library_file> locate(vendor_library const& library)
{
  return locate(library, library_identity);
}

std::optional<library_file> locate(vendor_library const& library, identity_reader const& identify)
{
  for (auto const& candidate : all_candidates(library)) {
    auto const path = path_of(candidate);
    if (!path) continue;
    if (auto const identity = identify(*path, library))
      return library_file{*path, candidate.reason, *identity};
  }
  return std::nullopt;
}

namespace {

/// The remedy if `candidate` is the only one.
std::string remedy_of(vendor_library const& library, library_candidate const& candidate)
{
  if (candidate.reason != detail::format("${}", library.variable)) return library.remedy;
  return detail::format(
      "correct or unset {}: while it is set, no other file is tried; otherwise {}",
      library.variable, library.remedy);
}

}  // namespace

void refuse_library(vendor_library const& library, library_candidate const& candidate)
{
  throw unavailable_error(library.origin, {.message = detail::format(
                                               "{}: {} (from {}) cannot be used: {}", library.title,
                                               candidate.path, candidate.reason, candidate.outcome),
                                           .input = candidate.path,
                                           .code = library.unavailable,
                                           .log = outcomes_of({candidate}),
                                           .hint = remedy_of(library, candidate)});
}

void refuse_library(vendor_library const& library, std::vector<library_candidate> const& candidates)
{
  if (candidates.size() == 1) refuse_library(library, candidates.front());  // $FATLINK_…
  throw unavailable_error(
      library.origin, {.message = detail::format("{}: {} was found in none of {} places",
                                                 library.title, library.name, candidates.size()),
                       .input = library.name,
                       .code = library.unavailable,
                       .log = outcomes_of(candidates),
                       .hint = library.remedy});
}

std::vector<fs::path> toolkit_roots()
{
  std::vector<fs::path> roots;
  for (auto const& root : roots_beside_package()) roots.push_back(root.folder);
  for (auto const& root : roots_in_environment()) roots.push_back(root.folder);
  roots.emplace_back(k_default_toolkit);
  return roots;
}

}  // namespace fatlink::detail
