// SPDX-License-Identifier: Apache-2.0
#include "device/shared_links.hpp"

#include <utility>

namespace fatlink::detail {

std::shared_ptr<linked_image const> shared_links::get(device_info const& device, link_mode mode)
{
  std::promise<std::shared_ptr<linked_image const>> promise;
  auto const [result, is_first] =
      enter({mode, device.target.name(), device.image_for(mode)}, promise.get_future().share());
  if (is_first) try {
      promise.set_value(std::make_shared<linked_image const>(link_(device, mode)));
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  return result.get();
}

std::pair<shared_links::outcome, bool> shared_links::enter(key const& link, outcome const& own)
{
  std::lock_guard const lock(mutex_);
  auto const [entry, is_first] = links_.try_emplace(link, own);
  return {entry->second, is_first};
}

shared_images shared_links::images(link_mode mode) const
{
  shared_images images;
  for (auto const& [link, result] : links_) {
    if (std::get<link_mode>(link) != mode) continue;
    try {
      images.push_back(result.get());
    } catch (...) {  // the error is that of its devices
    }
  }
  return images;
}

}  // namespace fatlink::detail
