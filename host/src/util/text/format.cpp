// SPDX-License-Identifier: Apache-2.0
#include "util/text/format.hpp"

namespace fatlink::detail {

std::string format_arguments(fmt::string_view text, fmt::format_args arguments)
{
  return fmt::vformat(text, arguments);
}

}  // namespace fatlink::detail
