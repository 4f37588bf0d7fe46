// SPDX-License-Identifier: Apache-2.0
// Where the link helper is.
#include "linker/find_link_helper.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "detail/environment.hpp"
#include "detail/format.hpp"
#include "fatlink/error.hpp"
#include "fatlink/linker.hpp"

namespace fatlink {
namespace {

constexpr char const* k_program = "fatlink-linkd";

/// Where a `libexec` may be: above the folder that holds this code, or twice above it where that is
/// in the prefix, too (lib/<multiarch>, libexec/<tests>); and above the program's.
std::vector<std::filesystem::path> prefixes()
{
  std::vector<std::filesystem::path> found;
  std::error_code ignored;
  Dl_info where{};
  if (::dladdr(reinterpret_cast<void const*>(&prefixes), &where) != 0 &&
      where.dli_fname != nullptr) {
    auto const file = std::filesystem::canonical(where.dli_fname, ignored);
    auto const above = file.parent_path().parent_path();
    if (!ignored) found.push_back(above);
    if (!ignored && (above.filename() == "lib" || above.filename() == "libexec"))
      found.push_back(above.parent_path());
  }
  auto const program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  auto const beside = program.parent_path().parent_path();
  if (!ignored && std::find(found.begin(), found.end(), beside) == found.end())
    found.push_back(beside);
  return found;
}

}  // namespace

void detail::fail_without_helper(std::string const& why, std::string const& input)
{
  throw unavailable_error(
      stage::linker, {.message = detail::format("the link helper cannot be used: {}", why),
                      .input = input,
                      .code = {},
                      .log = {},
                      .hint = detail::format(
                          "install {} in libexec beside the program's bin (package "
                          "fatlink-runtime), name it in FATLINK_LINKD, or link with --in-process",
                          k_program)});
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
  for (auto const& prefix : prefixes()) {
    auto path = prefix / "libexec" / k_program;
    if (::access(path.c_str(), X_OK) == 0) return path;
    tried += (tried.empty() ? "" : ", ") + path.string();
  }
  detail::fail_without_helper(detail::format("no {} at {}", k_program, tried), k_program);
}

}  // namespace fatlink
