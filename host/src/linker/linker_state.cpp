// SPDX-License-Identifier: Apache-2.0
#include "linker/linker_state.hpp"

#include <utility>

#include "nvjitlink/nvjitlink_library.hpp"
#include "util/process/environment.hpp"
#include "wording.hpp"

namespace fatlink::detail {
namespace {

/// `named`, whether it can be used or not; without a name the file that the search finds.
nvjitlink_file locate_file(std::filesystem::path const& named)
{
  if (named.empty()) return nvjitlink::locate().value_or(nvjitlink_file{});
  return {named.string(), in_words("<linker_settings::nvjitlink>"),
          nvjitlink_identity(named.string()).value_or("")};
}

}  // namespace

linker_state::linker_state(linker_settings user_settings) : settings(std::move(user_settings))
{
  if (settings.isolation == isolation::helper) helpers = helper_pool::shared();
}

nvjitlink_file linker_state::locate_nvjitlink()
{
  std::lock_guard const lock(mutex_);
  if (nvjitlink_) return {nvjitlink_->path(), nvjitlink_->reason(), nvjitlink_->identity()};
  if (!file_) file_ = locate_file(settings.nvjitlink);
  return *file_;
}

std::shared_ptr<nvjitlink const> linker_state::open_nvjitlink()
{
  std::lock_guard const lock(mutex_);
  if (!nvjitlink_)
    nvjitlink_ = settings.nvjitlink.empty() ? nvjitlink::open()
                                            : nvjitlink::open(settings.nvjitlink.string());
  return nvjitlink_;
}

bool linker_state::may_use_shipped()
{
  if (!settings.cache || settings.cache->settings().layers.empty()) return false;
  auto const is_named =
      !settings.nvjitlink.empty() || !environment(nvjitlink_library().variable).empty();
  return !is_named || locate_nvjitlink().identity.empty();
}

void linker_state::forget_file()
{
  std::lock_guard const lock(mutex_);
  file_.reset();
}

}  // namespace fatlink::detail
