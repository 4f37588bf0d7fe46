// SPDX-License-Identifier: Apache-2.0
#include "link_helper/fail_without_helper.hpp"

#include "fatlink/error.hpp"
#include "util/text/format.hpp"

namespace fatlink {

void detail::fail_without_helper(std::string const& cause, std::string const& input,
                                 std::string const& code, std::string const& hint)
{
  auto const install = detail::format(
      "install {} in libexec beside the program's bin (package fatlink-runtime), name it in "
      "FATLINK_LINKD, or link with isolation::in_process",
      k_helper_program);
  throw unavailable_error(
      stage::linker, {.message = detail::format("the link helper cannot be used: {}", cause),
                      .input = input,
                      .code = code.empty() ? error_code::helper_unavailable : vendor_code(code),
                      .hint = hint.empty() ? install : hint});
}

}  // namespace fatlink
