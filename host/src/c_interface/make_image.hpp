// SPDX-License-Identifier: Apache-2.0
// Images as the C interface returns them. Threads: no shared state.
#pragma once

#include <memory>
#include <utility>

#include "c_interface/handles.hpp"

namespace fatlink::c {

inline fatlink_image* make_image(linked_image image)
{
  auto target = image.target.name();
  return new fatlink_image{std::make_shared<linked_image const>(std::move(image)),
                           std::move(target)};
}

}  // namespace fatlink::c
