// SPDX-License-Identifier: Apache-2.0
#include "fatlink/find_link_helper.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "fatlink/error.hpp"
#include "link_helper/find_link_helper.hpp"
#include "util/process/environment.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

using detail::k_helper_program;

/// Searched last, for applications that are installed elsewhere than fatlink.
constexpr char const* k_system_folders[] = {"/usr/local/libexec", "/usr/libexec",
                                            "/usr/local/lib/fatlink", "/usr/lib/fatlink"};

/// Every file that may be the helper, in the order to try them.
std::vector<std::filesystem::path> helper_files()
{
  std::vector<std::filesystem::path> files;
  for (auto const& folder : detail::helper_folders()) files.push_back(folder / k_helper_program);
  if (auto file = detail::default_link_helper(); !file.empty()) files.push_back(std::move(file));
  for (std::filesystem::path const folder : k_system_folders)
    files.push_back(folder / k_helper_program);
  return files;
}

/// The hint for a helper that is not there.
std::string where_to_install_helper(detail::helper_tool tool)
{
  auto const* const remedy = tool == detail::helper_tool::nvjitlink
                                 ? "name it in FATLINK_LINKD, or link with <isolation::in_process>"
                                 : "or name it in FATLINK_LINKD: sources are compiled only there";
  return detail::format(
      "install {} in libexec beside the program's bin (package fatlink-runtime), {}",
      k_helper_program, remedy);
}

}  // namespace

std::filesystem::path find_link_helper()
{
  return detail::find_helper(detail::helper_tool::nvjitlink);
}

std::filesystem::path detail::find_helper(helper_tool tool)
{
  if (auto const named = detail::environment("FATLINK_LINKD"); !named.empty()) {
    if (::access(named.c_str(), X_OK) != 0)
      fail_without_helper(tool,
                          detail::format("{} (from $FATLINK_LINKD): {}", named,
                                         std::generic_category().message(errno)),
                          named, {}, where_to_install_helper(tool));
    return named;
  }
  std::string tried;
  for (auto const& file : helper_files()) {
    if (::access(file.c_str(), X_OK) == 0) return file;
    tried += (tried.empty() ? "" : ", ") + file.string();
  }
  fail_without_helper(tool, detail::format("no {} at {}", k_helper_program, tried),
                      k_helper_program, {}, where_to_install_helper(tool));
}

void set_default_link_helper(std::filesystem::path file)
{
  detail::set_default_link_helper(std::move(file));
}

std::string detail::how_to_see_why(helper_tool tool, std::string const& program)
{
  return detail::format(
      "run {} to see why{}", program,
      tool == helper_tool::nvjitlink ? ", or link with <isolation::in_process>" : "");
}

void detail::fail_without_helper(helper_tool tool, std::string const& cause,
                                 std::string const& input, std::string const& code,
                                 std::string const& hint)
{
  auto const* const name = tool == helper_tool::nvjitlink ? "link helper" : "compiler's helper";
  throw unavailable_error(
      stage_of(tool), {.message = detail::format("the {} cannot be used: {}", name, cause),
                       .input = input,
                       .code = code.empty() ? error_code::helper_unavailable : vendor_code(code),
                       .hint = hint});
}

}  // namespace fatlink
