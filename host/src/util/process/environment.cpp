// SPDX-License-Identifier: Apache-2.0
#include "util/process/environment.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <system_error>

#include "install_layout.hpp"
#include "util/files/read_file.hpp"

namespace fatlink::detail {
std::string environment(char const* name)
{
  auto const* const text = ::secure_getenv(name);
  return text == nullptr ? "" : text;
}

std::vector<std::filesystem::path> folders_in(char const* name)
{
  std::vector<std::filesystem::path> folders;
  auto const text = environment(name);
  for (std::size_t start = 0; start < text.size();) {
    auto const end = std::min(text.find(':', start), text.size());
    if (end > start) folders.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return folders;
}

std::filesystem::path xdg_folder(char const* variable, std::filesystem::path const& in_home)
{
  // The specification ignores relative folders.
  if (std::filesystem::path named = environment(variable); named.is_absolute()) return named;
  if (std::filesystem::path const home = environment("HOME"); home.is_absolute())
    return home / in_home;
  return {};
}

}  // namespace fatlink::detail

namespace fatlink {
namespace {

/// The paths to one install folder from the others. An absolute path lies outside of the prefix and
/// does not move with it.
struct install_folder {
  char const* from_libraries;
  char const* from_programs;
  char const* in_prefix;  ///< the default, always used in the build tree
};
constexpr install_folder k_helper{layout::k_libraries_to_helper, layout::k_programs_to_helper,
                                  "libexec"};
constexpr install_folder k_data{layout::k_libraries_to_data, layout::k_programs_to_data,
                                "share/fatlink"};

std::filesystem::path running_program()
{
  std::error_code error;
  auto const program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path() : program;
}

/// The program or shared library that contains this code.
std::filesystem::path code_file()
{
  Dl_info info{};
  link_map* loaded = nullptr;
  if (::dladdr1(reinterpret_cast<void const*>(&code_file), &info, reinterpret_cast<void**>(&loaded),
                RTLD_DL_LINKMAP) == 0 ||
      loaded == nullptr)
    return {};
  // The program has no name here, and dli_fname is its argv[0]: a name such as "fatlink", which may
  // be another file of the working folder.
  if (loaded->l_name == nullptr || *loaded->l_name == '\0') return running_program();
  std::error_code error;
  auto const file = detail::real_path(loaded->l_name, error);
  return error ? std::filesystem::path() : file;
}

/// Folders above `file` that may be the prefix: the one above its folder, and the next where that
/// is a folder of the prefix itself (lib/<multiarch>, libexec/<package>).
std::vector<std::filesystem::path> prefixes_of(std::filesystem::path const& file)
{
  if (file.empty()) return {};
  auto const above = file.parent_path().parent_path();
  if (above.filename() == "lib" || above.filename() == "libexec")
    return {above, above.parent_path()};
  return {above};
}

void append(std::vector<std::filesystem::path>& folders, std::filesystem::path const& folder)
{
  auto const normal = (folder / "").lexically_normal().parent_path();
  if (std::find(folders.begin(), folders.end(), normal) == folders.end()) folders.push_back(normal);
}

/// Every candidate path of `folder`; those that move with this installation come first. Those of a
/// program that uses the shared library count if it is installed: X/bin/program, not
/// /tmp/x/program.
std::vector<std::filesystem::path> places_of(install_folder const& folder)
{
  auto program = running_program();
  auto const code = code_file();
  auto const is_library = !code.empty() && code != program;
  if (is_library && program.parent_path().filename() != "bin") program.clear();
  auto const configured =
      std::filesystem::path(is_library ? folder.from_libraries : folder.from_programs);
  auto const& start = is_library ? code : program;
  std::vector<std::filesystem::path> places;
  if (configured.is_relative() && !start.empty()) append(places, start.parent_path() / configured);
  if (is_library && std::filesystem::path(folder.from_programs).is_relative() && !program.empty())
    append(places, program.parent_path() / folder.from_programs);
  for (auto const& file : {code, program})
    for (auto const& prefix : prefixes_of(file)) append(places, prefix / folder.in_prefix);
  if (configured.is_absolute()) append(places, configured);
  return places;
}

struct stated_helper {
  std::mutex mutex;
  std::filesystem::path file;
};

/// Constructed on first use, because set_default_link_helper may be called before `main`. Never
/// destroyed, because programs may link while static objects are destroyed.
stated_helper& stated()
{
  static auto& helper = *new stated_helper;
  return helper;
}

}  // namespace

void detail::set_default_link_helper(std::filesystem::path file)
{
  std::lock_guard const lock(stated().mutex);
  stated().file = std::move(file);
}

std::filesystem::path detail::default_link_helper()
{
  std::lock_guard const lock(stated().mutex);
  return stated().file;
}

std::vector<std::filesystem::path> detail::installation_prefixes()
{
  std::vector<std::filesystem::path> prefixes;
  auto const program = running_program();
  if (!program.empty()) append(prefixes, program.parent_path().parent_path());
  if (auto const of_library = prefixes_of(code_file()); !of_library.empty())
    append(prefixes, of_library.back());  // lib/<multiarch> is below the prefix's lib
  return prefixes;
}

std::vector<std::filesystem::path> detail::helper_folders()
{
  return places_of(k_helper);
}

std::vector<std::filesystem::path> detail::data_folders()
{
  auto places = places_of(k_data);
  if (auto const helper = default_link_helper(); !helper.empty())
    append(places, helper.parent_path() / layout::k_helper_to_data);
  return places;
}

}  // namespace fatlink
