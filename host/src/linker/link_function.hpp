// SPDX-License-Identifier: Apache-2.0
// A call of nvJitLink, in this process or in the helper.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fatlink/image.hpp"
#include "nvjitlink/link_in_process.hpp"

namespace fatlink::detail {

/// Links with nvJitLink's options. @throws link_error
using link_function =
    std::function<link_product(std::vector<link_input> const& inputs,
                               std::vector<std::string> const& options, image_kind emit)>;

}  // namespace fatlink::detail
