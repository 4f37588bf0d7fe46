// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fatlink {

/// Drops all capabilities of this thread: bounding set, ambient, inheritable, permitted and
/// effective. Without CAP_SETPCAP the bounding set stays, which grants nothing under no_new_privs.
/// Returns 0, or the errno with which the kernel refuses.
int drop_capabilities();

}  // namespace fatlink
