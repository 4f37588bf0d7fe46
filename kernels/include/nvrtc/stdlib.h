// SPDX-License-Identifier: Apache-2.0
// NVRTC declares malloc, free and abs itself.
#include <stddef.h>
#ifndef EXIT_SUCCESS
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#endif
