// SPDX-License-Identifier: Apache-2.0
#include "compiler/compiler_version.hpp"

#include <cstdlib>

#include "util/text/format.hpp"

namespace fatlink::detail {

std::string version_of(std::string const& identity)
{
  return identity.substr(0, identity.find(' '));
}

bool is_known(std::string const& version)
{
  return !version.empty() && version.find('?') == std::string::npos;
}

std::string title_of(char const* compiler, std::string const& version)
{
  return is_known(version) ? detail::format("{} {}", compiler, version) : compiler;
}

bool brings_headers(std::string const& identity)
{
  constexpr int k_first_minor = 3;
  auto const version = version_of(identity);
  auto const dot = version.find('.');
  return dot != std::string::npos && std::atoi(version.c_str() + dot + 1) >= k_first_minor;
}

}  // namespace fatlink::detail
