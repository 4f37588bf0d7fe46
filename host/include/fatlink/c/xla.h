/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Runs plans within programs that XLA compiles, such as functions of jax.jit, in the stream of the
   program and without waiting. The two handlers are functions of XLA's foreign function interface
   (FFI), version 0.x, which jax.ffi.register_ffi_target registers: fatlink_xla_run_host for the
   platform "cpu", fatlink_xla_run_cuda for the platform "CUDA", there for the stages "initialize"
   and "execute". A custom call to them has the attribute `call`, a string: the name of a call that
   fatlink_xla_register registered. */
#ifndef FATLINK_C_XLA_H
#define FATLINK_C_XLA_H

#include "fatlink/c/plan.h"

FATLINK_C_BEGIN

/** What a custom call runs. All members are copied; of the objects, references are kept. */
typedef struct fatlink_xla_call {
  size_t size;                         /**< sizeof(fatlink_xla_call) */
  fatlink_linker* linker;              /**< links the plan for further devices */
  fatlink_plan_request const* request; /**< the library, the transforms and the link mode */
  fatlink_plan const* plan;            /**< prepared from `request` for one device */
  char const* const* operands;         /**< the plan's argument of each operand, in order */
  size_t operand_count;                /**< entries of `operands` */
  char const* const* results;          /**< the plan's argument of each result, in order */
  size_t result_count;                 /**< entries of `results` */
  fatlink_argument const* values;      /**< sizes and values, which are equal in each execution */
  size_t value_count;                  /**< entries of `values` */
} fatlink_xla_call;

/** Registers a call under a name, until the process ends. Programs that XLA compiled may be stored
    and loaded by another process, so the name must identify the contents of `call`, for example by
   a digest. If the name is registered already, nothing changes. Errors: usage. */
FATLINK_C_API fatlink_error* fatlink_xla_register(char const* name, fatlink_xla_call const* call);
/** Executes a call on the reference device, with arrays in host memory. `frame` is an
    XLA_FFI_CallFrame; returns an XLA_FFI_Error*, or NULL. */
FATLINK_C_API void* fatlink_xla_run_host(void* frame);
/** Queues a call on the stream of the program, on the GPU that executes the program. The plan is
    prepared for this GPU if it was not yet; in the stage "initialize", nothing else is done. An
    additional last result is used as scratch memory; its size must exceed the plan's
    fatlink_plan_scratch_bytes by 255 bytes, because XLA aligns it less. Without it, or if it is too
    small for the GPU, memory is allocated and released on the stream, which XLA's command buffers
   do not support. Otherwise, calls may be part of command buffers (CUDA graphs). */
FATLINK_C_API void* fatlink_xla_run_cuda(void* frame);

FATLINK_C_END

#endif
