// SPDX-License-Identifier: Apache-2.0
#include "linker/linker_state.hpp"

#include <utility>

namespace fatlink::detail {

linker_state::linker_state(linker_options given) : options(std::move(given))
{
  if (options.isolation == isolation::helper) helpers = helper_pool::shared();
}

nvjitlink_file linker_state::located()
{
  std::lock_guard const lock(mutex_);
  if (library) return {library->path(), library->reason(), library->identity()};
  if (!file_) file_ = nvjitlink::locate();
  return file_.value_or(nvjitlink_file{});
}

std::shared_ptr<nvjitlink const> linker_state::opened()
{
  std::lock_guard const lock(mutex_);
  if (!library) library = nvjitlink::open();
  return library;
}

void linker_state::forget_file()
{
  std::lock_guard const lock(mutex_);
  file_.reset();
}

}  // namespace fatlink::detail
