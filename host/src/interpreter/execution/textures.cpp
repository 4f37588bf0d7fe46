// SPDX-License-Identifier: Apache-2.0
#include "interpreter/execution/textures.hpp"

#include <algorithm>

namespace fatlink::interpreter {

geometry image_layout::shape() const noexcept
{
  if (is_cube) return layers == 0 ? geometry::cube : geometry::layered_cube;
  if (layers != 0) return height == 0 ? geometry::layered_line : geometry::layered_plane;
  if (depth != 0) return geometry::volume;
  return height == 0 ? geometry::line : geometry::plane;
}

std::uint64_t image_layout::slices() const noexcept
{
  auto const count = std::max<std::uint64_t>({depth, layers, 1});
  return is_cube ? count * 6 : count;
}

std::uint64_t image_layout::bytes() const noexcept
{
  return slices() * slice_bytes() - row_bytes + width * texels.bytes();
}

std::uint64_t texture_registry::add_texture(image const& image, sampler const& sampler)
{
  return add({.image = image, .sampler = sampler});
}

std::uint64_t texture_registry::add_surface(image const& image)
{
  return add({.image = image, .is_surface = true});
}

std::uint64_t texture_registry::add(bound_object object)
{
  std::lock_guard const lock(mutex_);
  object.handle = current_.next_handle;
  current_.objects.push_back(object);  // handles only grow
  current_.next_handle += k_object_stride;
  snapshot_.reset();
  return object.handle;
}

void texture_registry::remove(std::uint64_t handle) noexcept
{
  std::lock_guard const lock(mutex_);
  auto const* const object = find_object(current_, handle);
  if (object == nullptr) return;
  current_.objects.erase(current_.objects.begin() + (object - current_.objects.data()));
  snapshot_.reset();
}

std::shared_ptr<object_list const> texture_registry::snapshot() const
{
  std::lock_guard const lock(mutex_);
  if (snapshot_ == nullptr) snapshot_ = std::make_shared<object_list>(current_);
  return snapshot_;
}

bound_object const* find_object(object_list const& objects, std::uint64_t handle) noexcept
{
  auto const& list = objects.objects;
  auto const entry = std::lower_bound(
      list.begin(), list.end(), handle,
      [](bound_object const& object, std::uint64_t value) { return object.handle < value; });
  return entry == list.end() || entry->handle != handle ? nullptr : &*entry;
}

unknown_handle classify_handle(object_list const& objects, std::uint64_t handle) noexcept
{
  if (handle == 0) return unknown_handle::null;
  auto const is_in_window = handle >= k_object_window && handle - k_object_window < k_window_size;
  if (handle >= k_shared_window && !is_in_window) return unknown_handle::address;
  auto const was_returned =
      handle > k_object_window && handle < objects.next_handle && handle % k_object_stride == 0;
  return was_returned ? unknown_handle::destroyed : unknown_handle::foreign;
}

}  // namespace fatlink::interpreter
