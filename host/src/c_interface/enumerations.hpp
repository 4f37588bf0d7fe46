// SPDX-License-Identifier: Apache-2.0
// The enumerations of the C interface and those of the C++ interface. Threads: no shared state.
#pragma once

#include <optional>

#include "fatlink/fatlink.h"
#include "fatlink/image.hpp"
#include "fatlink/launch_plan.hpp"
#include "fatlink/target.hpp"

namespace fatlink::c {

/// @throws usage_error `mode` is not a constant of fatlink_link_mode.
link_mode read_mode(fatlink_link_mode mode);
/// A cubin for DEFAULT. @throws usage_error `kind` is not a constant of fatlink_image_kind.
image_kind read_kind(fatlink_image_kind kind);
/// None if it is unset. @throws usage_error `choice` is not a constant of fatlink_choice.
std::optional<bool> read_choice(fatlink_choice choice, char const* parameter);
/// Whether `scalar` is a fatlink_scalar.
bool is_scalar(fatlink_scalar scalar) noexcept;
/// None if it is unstated. `scalar` must be a fatlink_scalar.
std::optional<scalar_kind> read_scalar(fatlink_scalar scalar) noexcept;

fatlink_link_mode mode_of(link_mode mode) noexcept;
fatlink_image_kind kind_of(image_kind kind) noexcept;
fatlink_cache_outcome outcome_of(cache_outcome outcome) noexcept;
fatlink_role role_of(argument_role role) noexcept;
fatlink_scalar scalar_of(scalar_kind kind) noexcept;

}  // namespace fatlink::c
