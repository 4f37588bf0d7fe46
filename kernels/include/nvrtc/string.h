// SPDX-License-Identifier: Apache-2.0
// NVRTC declares memcpy and memset itself; device code has no strings of C.
#include <stddef.h>
