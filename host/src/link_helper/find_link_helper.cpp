// SPDX-License-Identifier: Apache-2.0
// Where the link helper is.
#include "link_helper/find_link_helper.hpp"

#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "fatlink/error.hpp"
#include "fatlink/linker.hpp"
#include "util/files/installed_files.hpp"
#include "util/process/environment.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

constexpr char const* k_program = "fatlink-linkd";

/// Searched last, for applications that are installed elsewhere than fatlink.
constexpr char const* k_system_folders[] = {"/usr/local/libexec", "/usr/libexec",
                                            "/usr/local/lib/fatlink", "/usr/lib/fatlink"};

/// Every file that may be the helper, in the order to try them.
std::vector<std::filesystem::path> helper_files()
{
  std::vector<std::filesystem::path> files;
  for (auto const& folder : detail::helper_folders()) files.push_back(folder / k_program);
  if (auto file = detail::default_link_helper(); !file.empty()) files.push_back(std::move(file));
  for (std::filesystem::path const folder : k_system_folders) files.push_back(folder / k_program);
  return files;
}

}  // namespace

void detail::fail_without_helper(std::string const& cause, std::string const& input,
                                 std::string const& code, std::string const& hint)
{
  auto const install = detail::format(
      "install {} in libexec beside the program's bin (package fatlink-runtime), name it in "
      "FATLINK_LINKD, or link with --in-process (C++: isolation::in_process)",
      k_program);
  throw unavailable_error(stage::linker,
                          {.message = detail::format("the link helper cannot be used: {}", cause),
                           .input = input,
                           .code = code,
                           .hint = hint.empty() ? install : hint});
}

std::filesystem::path find_link_helper()
{
  if (auto const named = detail::environment("FATLINK_LINKD"); !named.empty()) {
    if (::access(named.c_str(), X_OK) != 0)
      detail::fail_without_helper(detail::format("{} (from $FATLINK_LINKD): {}", named,
                                                 std::generic_category().message(errno)),
                                  named);
    return named;
  }
  std::string tried;
  for (auto const& file : helper_files()) {
    if (::access(file.c_str(), X_OK) == 0) return file;
    tried += (tried.empty() ? "" : ", ") + file.string();
  }
  detail::fail_without_helper(detail::format("no {} at {}", k_program, tried), k_program);
}

}  // namespace fatlink
