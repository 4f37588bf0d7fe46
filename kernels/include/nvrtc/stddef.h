// SPDX-License-Identifier: Apache-2.0
// Also with --minimal, where NVRTC declares no size_t.
#ifndef FATLINK_STDDEF
#define FATLINK_STDDEF
typedef unsigned long size_t;
typedef long ptrdiff_t;
#ifndef NULL
#define NULL 0
#endif
#if !defined(offsetof)
// In the words of CCCL.
// clang-format off
#define offsetof(type, member) (::size_t) ((char*) &(((type*) 0)->member) - (char*) 0)
// clang-format on
#endif
#endif
