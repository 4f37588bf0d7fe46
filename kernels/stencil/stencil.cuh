// SPDX-License-Identifier: Apache-2.0
// The contract stencil/1: the value at a point of a line, from the points around it.
//
// center   the point in shared memory: center[-4] to center[4] are its neighbors, which are
//          the first or the last point beyond the ends of the line; read-only
// state    the launch's user data, or null; read-only, the same for all threads
//
// The hook may be called from divergent code, so it must not synchronize the block or the warp.
#pragma once

extern "C" __device__ float stencil_point(float const* center, void const* state);
