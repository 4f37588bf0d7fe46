// SPDX-License-Identifier: Apache-2.0
// Failures of instructions on an object that they cannot use. In most of them the host program
// passed the wrong object, and not the device code: the hint names what to change there.
#pragma once

#include <cstdint>

#include "interpreter/instructions/texture/bound_image.hpp"

namespace fatlink::interpreter {

/// Fails, as no object has the handle.
[[noreturn]] void fail_unknown_handle(warp const& w, operation const& o, object_kind kind,
                                      std::uint64_t handle, unsigned lane);

/// Fails, as the handle's object is a surface where a `kind` texture is needed, or the reverse.
[[noreturn]] void fail_kind(warp const& w, operation const& o, object_kind kind,
                            std::uint64_t handle, unsigned lane);

/// Fails, as the memory that the object reads is not allocated.
[[noreturn]] void fail_released(warp const& w, operation const& o, object_kind kind, unsigned lane);

/// Fails, as the object has the geometry `shape`, and the instruction states another one.
[[noreturn]] void fail_geometry(warp const& w, operation const& o, object_kind kind, geometry shape,
                                unsigned lane);

}  // namespace fatlink::interpreter
