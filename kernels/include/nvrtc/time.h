// SPDX-License-Identifier: Apache-2.0
// NVRTC declares clock and clock_t itself.
#include <stddef.h>
