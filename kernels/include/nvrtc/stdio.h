// SPDX-License-Identifier: Apache-2.0
// NVRTC declares printf itself.
#include <stddef.h>
