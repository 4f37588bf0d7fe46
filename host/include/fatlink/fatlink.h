/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   The C interface of libfatlink.so, for C99 and every language that calls C. It needs no CUDA
   header and no C++ runtime of the caller's. docs/c_interface.md is the guide, with examples.

   Errors. A function that can fail returns a fatlink_error, or NULL when it succeeded (c/error.h).
   Any of them can fail with kind MEMORY: the host or a device lacks memory.
   The caller frees it. Results are returned through the last parameters, which are set to NULL or 0
   on an error; a struct that a function fills is then left as it was. No exception leaves a
   function of this interface.

   Objects are opaque. The caller frees each object that it receives with the fatlink_..._free of
   its type, which takes NULL, too. Objects keep alive what they were made of: a kernel may be used
   after its module, its image and its device were freed. Texts and bytes that a function returns
   belong to the object that was asked and live as long as it does.

   Structs begin with their size, so that later versions can add members. Begin with
   `fatlink_link_options options = {.size = sizeof options};`: in options and settings every other
   member may stay 0, which is its default. Set size in the same way in a struct that a function
   fills. Structs of older and newer versions of these headers are accepted: in a newer one, members
   that the library does not know must be 0, and are set to 0 where the function fills the struct.

   NULL. A required pointer that is NULL is an error of kind USAGE, which names the parameter.
   Functions that return no error give "", NULL or 0 for an object that is NULL.

   Texts are UTF-8 and end with NUL. Units: bytes, milliseconds, elements.

   Threads. Functions may be called by several threads at once, also with the same object, except:
   one stream is used by one thread at a time, and an object is not freed while another thread uses
   it. Fork: a child process may use what it inherits of inputs, linkers, caches and the reference
   device; not GPUs, live modules and live plans (CUDA does not survive fork).

   Versions. Functions are only added within a major version of the interface. In the shared library
   a symbol has the version of the interface that added it: FATLINK_C_1, FATLINK_C_1.1, ... */
#ifndef FATLINK_FATLINK_H
#define FATLINK_FATLINK_H

#include "fatlink/c/base.h"
#include "fatlink/c/cache.h"
#include "fatlink/c/compile.h"
#include "fatlink/c/device.h"
#include "fatlink/c/error.h"
#include "fatlink/c/image.h"
#include "fatlink/c/input.h"
#include "fatlink/c/kernel.h"
#include "fatlink/c/link.h"
#include "fatlink/c/live.h"
#include "fatlink/c/memory.h"
#include "fatlink/c/plan.h"

#endif
