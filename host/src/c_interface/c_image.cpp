// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "c_interface/guard.hpp"
#include "c_interface/handles.hpp"
#include "c_interface/structs.hpp"

namespace fatlink::c {
namespace {

std::uint64_t size_of(linked_image const& image)
{
  std::uint64_t size = image.bytes.size();
  for (auto const& part : image.parts) size += part.text.size();
  return size;
}

}  // namespace
}  // namespace fatlink::c

using namespace fatlink::c;

fatlink_error* fatlink_image_get_info(fatlink_image const* image, fatlink_image_info* info)
{
  return guarded([&] {
    struct_output const result(info, "info");
    auto const& [facts, target] = required(image, "image");
    result.set({.size = sizeof(fatlink_image_info),
                .kind = kind_of(facts->kind),
                .mode = mode_of(facts->mode),
                .cache = outcome_of(facts->cache),
                .inlined = facts->inlined() ? 1 : 0,
                .target = target.c_str(),
                .hook_count = facts->hooks.size(),
                .warning_count = facts->warnings.size(),
                .link_ms = facts->link_ms,
                .size_bytes = size_of(*facts)});
  });
}

void const* fatlink_image_bytes(fatlink_image const* image, size_t* count)
{
  auto const bytes =
      image == nullptr ? fatlink::bytes_view() : fatlink::bytes_view(image->image->bytes);
  if (count != nullptr) *count = bytes.size();
  return bytes.empty() ? nullptr : bytes.data();
}

fatlink_error* fatlink_image_get_hook(fatlink_image const* image, size_t index, fatlink_hook* hook)
{
  return guarded([&] {
    struct_output const result(hook, "hook");
    auto const& hooks = required(image, "image").image->hooks;
    check_index(index, hooks.size(), "hooks");
    result.set({.size = sizeof(fatlink_hook),
                .name = hooks[index].name.c_str(),
                .inlined = hooks[index].inlined ? 1 : 0,
                .is_default = hooks[index].is_default ? 1 : 0});
  });
}

char const* fatlink_image_warning(fatlink_image const* image, size_t index)
{
  if (image == nullptr || index >= image->image->warnings.size()) return nullptr;
  return image->image->warnings[index].c_str();
}

void fatlink_image_free(fatlink_image* image)
{
  delete image;
}
