// SPDX-License-Identifier: Apache-2.0
#include "cache/fault.hpp"

#include <cerrno>
#include <system_error>

#include "util/text/format.hpp"

namespace fatlink::cache {

void throw_fault(char const* action, std::filesystem::path const& path)
{
  auto const code = errno;
  throw fault{
      detail::format("{} {}: {}", action, path.string(), std::generic_category().message(code)),
      code};
}

}  // namespace fatlink::cache
