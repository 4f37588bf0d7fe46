// SPDX-License-Identifier: Apache-2.0
#include "interpreter/execution/textures.hpp"

#include <algorithm>
#include <new>

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
  auto changed = std::make_shared<object_list>(*objects_);
  object.handle = next_;
  changed->push_back(object);  // handles only grow
  objects_ = std::move(changed);
  next_ += k_object_stride;
  return object.handle;
}

void texture_registry::remove(std::uint64_t handle) noexcept
try {
  std::lock_guard const lock(mutex_);
  auto changed = std::make_shared<object_list>(*objects_);
  std::erase_if(*changed, [&](bound_object const& entry) { return entry.handle == handle; });
  objects_ = std::move(changed);
} catch (std::bad_alloc const&) {  // the object stays until the device is closed
}

std::shared_ptr<object_list const> texture_registry::snapshot() const
{
  std::lock_guard const lock(mutex_);
  return objects_;
}

bound_object const* find_object(object_list const& objects, std::uint64_t handle) noexcept
{
  auto const entry = std::lower_bound(
      objects.begin(), objects.end(), handle,
      [](bound_object const& object, std::uint64_t value) { return object.handle < value; });
  return entry == objects.end() || entry->handle != handle ? nullptr : &*entry;
}

std::string describe_handle(std::uint64_t handle)
{
  if (handle == 0) return "the handle is 0";
  if (handle >= k_allocations) return "the handle is an address";
  auto const is_handle = handle > k_object_window && handle < k_object_window + k_window_size &&
                         handle % k_object_stride == 0;
  return is_handle ? "the object of the handle was destroyed" : "the handle is not of this device";
}

}  // namespace fatlink::interpreter
