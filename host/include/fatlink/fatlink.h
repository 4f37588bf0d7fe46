/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   The C interface of libfatlink.so, for C99 and every language that calls C. Callers need neither
   CUDA headers nor a C++ runtime. docs/c_interface.md is the guide, with examples.

   Errors. A function that can fail returns NULL on success, or a fatlink_error, which the caller
   must free (c/error.h). Any such function can fail with kind MEMORY if the host or a device lacks
   memory. Results are returned through the last parameters. On an error they are set to NULL or 0,
   except that an output struct is left unchanged. Functions of this interface never throw C++
   exceptions.

   Objects are opaque. The caller frees each object that it receives with the fatlink_..._free
   function of its type, which ignores NULL. An object holds references to the objects that it was
   created from: a kernel may be used after its module, image and device were freed. Texts and
   bytes that a function returns belong to the object that was passed to it, and are valid while
   that object exists.

   Structs begin with their size, so that later versions can add members. Initialize a struct with
   `fatlink_link_options options = {.size = sizeof options};`. In options and settings, 0 is the
   default of every other member. Before a call that fills a struct (an output struct), set its
   `size` in the same way. Structs of older and newer versions of these headers are accepted. If a
   struct is newer than the library, it has members that the library does not know. In an input
   struct, these members must be 0; in an output struct, the library sets them to 0.

   NULL. If a required pointer is NULL, the call fails with kind USAGE, and the message names the
   parameter. Functions that do not return an error return "", NULL or 0 if the object is NULL.

   Texts are UTF-8 and end with NUL. Units: bytes, milliseconds, elements.

   Threads. Several threads may call functions at once, even with the same object, with two
   exceptions: a stream must be used by one thread at a time, and an object must not be freed while
   another thread uses it. Fork: a child process may use inherited inputs, linkers, caches and
   objects of the reference device, but not GPUs, live modules and live plans (CUDA does not survive
   fork).

   Versions. Within a major version of the interface, functions are only added. Each symbol in
   the shared library has the version of the interface that added it: FATLINK_C_1, FATLINK_C_1.1,
   ... */
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
#include "fatlink/c/xla.h"

#endif
