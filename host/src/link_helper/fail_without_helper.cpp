// SPDX-License-Identifier: Apache-2.0
#include "link_helper/fail_without_helper.hpp"

#include "fatlink/error.hpp"
#include "util/text/format.hpp"

namespace fatlink {

std::string detail::where_to_install_helper(helper_tool tool)
{
  auto const* const remedy = tool == detail::helper_tool::nvjitlink
                                 ? "name it in FATLINK_LINKD, or link with <isolation::in_process>"
                                 : "or name it in FATLINK_LINKD: sources are compiled nowhere else";
  return detail::format(
      "install {} in libexec beside the program's bin (package fatlink-runtime), {}",
      detail::k_helper_program, remedy);
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
