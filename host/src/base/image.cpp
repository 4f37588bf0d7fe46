// SPDX-License-Identifier: Apache-2.0
#include "fatlink/image.hpp"

#include <algorithm>

namespace fatlink {

char const* to_string(cache_outcome outcome) noexcept
{
  switch (outcome) {
    case cache_outcome::off:
      return "off";
    case cache_outcome::miss:
      return "miss";
    case cache_outcome::hit:
      return "hit";
  }
  return "unknown";
}

char const* to_string(image_kind kind) noexcept
{
  switch (kind) {
    case image_kind::cubin:
      return "cubin";
    case image_kind::ptx:
      return "ptx";
    case image_kind::ptx_set:
      return "ptx_set";
    case image_kind::ltoir:
      return "ltoir";
    case image_kind::relocatable:
      return "relocatable";
  }
  return "unknown";
}

char const* to_string(hook_fact const& hook) noexcept
{
  if (hook.is_default) return "default";
  return hook.inlined ? "inlined" : "called";
}

bool linked_image::inlined() const noexcept
{
  auto has_hook = false;
  for (auto const& hook : hooks) {
    if (hook.is_default) continue;
    if (!hook.inlined) return false;
    has_hook = true;
  }
  return has_hook;
}

}  // namespace fatlink
