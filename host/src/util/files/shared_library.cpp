// SPDX-License-Identifier: Apache-2.0
#include "util/files/shared_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>

#include "util/files/path_lookup.hpp"

namespace fatlink::detail {

shared_library shared_library::open(std::string const& path, std::string& error)
{
  auto* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) error = ::dlerror();
  return shared_library(handle);
}

shared_library shared_library::loaded(std::string const& name)
{
  return shared_library(::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD));
}

void* shared_library::find(std::initializer_list<std::string> names) const noexcept
{
  for (auto const& name : names)
    if (auto* const symbol = ::dlsym(handle_, name.c_str()); symbol != nullptr) return symbol;
  return nullptr;
}

std::string shared_library::path() const
{
  link_map* map = nullptr;
  if (::dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return {};
  std::error_code ignored;
  auto const real = real_path(map->l_name, ignored);
  return ignored ? std::string(map->l_name) : real.string();
}

}  // namespace fatlink::detail
