/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Runs libraries through their launch plans (see fatlink/prepare.hpp and docs/launch_plans.md).
   A library is linked with transforms, loaded, and called with the caller's memory and stream. */
#ifndef FATLINK_C_PLAN_H
#define FATLINK_C_PLAN_H

#include "fatlink/c/device.h"
#include "fatlink/c/link.h"

FATLINK_C_BEGIN

/** A library that is ready to be called. Immutable. */
typedef struct fatlink_plan fatlink_plan;
/** A call of a plan with fixed arguments. Immutable. */
typedef struct fatlink_call fatlink_call;

/** What the bytes of an element mean. */
typedef int32_t fatlink_scalar;
enum {
  FATLINK_SCALAR_UNSTATED = 0, /**< only the size is compared with that of the plan */
  FATLINK_FLOAT16 = 1,         /**< IEEE half precision */
  FATLINK_BFLOAT16 = 2,        /**< the upper half of a float32 */
  FATLINK_FLOAT32 = 3,         /**< float */
  FATLINK_FLOAT64 = 4,         /**< double */
  FATLINK_INT8 = 5,            /**< int8_t */
  FATLINK_INT16 = 6,           /**< int16_t */
  FATLINK_INT32 = 7,           /**< int32_t */
  FATLINK_INT64 = 8,           /**< int64_t */
  FATLINK_UINT8 = 9,           /**< uint8_t */
  FATLINK_UINT16 = 10,         /**< uint16_t */
  FATLINK_UINT32 = 11,         /**< uint32_t */
  FATLINK_UINT64 = 12,         /**< uint64_t */
  FATLINK_COMPLEX64 = 13,      /**< two float32: real, imaginary */
  FATLINK_COMPLEX128 = 14,     /**< two float64: real, imaginary */
  FATLINK_BYTES = 15,          /**< opaque bytes */
  FATLINK_RECORD = 16          /**< a struct of named fields */
};

/** What a caller gives for an argument of a plan. */
typedef int32_t fatlink_role;
enum {
  FATLINK_ROLE_INPUT = 1,   /**< a device array that the launches read */
  FATLINK_ROLE_OUTPUT = 2,  /**< a device array that the launches write */
  FATLINK_ROLE_SCRATCH = 3, /**< a device array that only the launches use; not passed */
  FATLINK_ROLE_SIZE = 4,    /**< an integer that formulas for extents and grids use */
  FATLINK_ROLE_VALUE = 5,   /**< a number or a struct */
  FATLINK_ROLE_STATE = 6    /**< user data of the transform, in device memory; may be omitted */
};

/** An argument of a plan. */
typedef struct fatlink_plan_argument {
  size_t size;           /**< sizeof(fatlink_plan_argument), set by the caller */
  char const* name;      /**< unique in the plan */
  fatlink_role role;     /**< what a caller passes for it */
  fatlink_scalar scalar; /**< type of its elements or its value */
  size_t element_bytes;  /**< size of an element or of the value; 0 for a state */
  char const* type_name; /**< "float32", "bytes8", "window", "{value: float32, index: int32}" */
  uint32_t dimensions;   /**< of an array; otherwise 0 */
  uint32_t alignment;    /**< of an array's address, in bytes */
  int32_t has_default;   /**< 1: a size, value or input that may be omitted */
  int32_t reserved;      /**< 0 */
} fatlink_plan_argument;

/** An argument of a call. All arguments of a call must have the same `size`. */
typedef struct fatlink_argument {
  size_t size;      /**< sizeof(fatlink_argument) */
  char const* name; /**< of the plan's argument */
  uint64_t address; /**< of an array: its device address */
  uint64_t count;   /**< number of elements of an array; UINT64_MAX: unknown; 0: none */
  void const*
      value; /**< of a size or value: its `element_bytes` bytes, which are copied; NULL: an array */
  size_t element_bytes; /**< of an element or the value; 0: not stated (only for UNSTATED arrays) */
  fatlink_scalar scalar; /**< their type; UNSTATED: not checked */
  int32_t reserved;      /**< 0 */
} fatlink_argument;

/** How to read the arrays of a Python framework through the C exchange API of DLPack 1.3, which
    PyTorch 2.10 and newer has. The functions are those of Python's C API. */
typedef struct fatlink_array_exchange {
  size_t size;     /**< sizeof(fatlink_array_exchange) */
  void const* api; /**< the pointer in the capsule `__dlpack_c_exchange_api__` of the class */
  void* (*release)(void); /**< PyEval_SaveThread; NULL: launches hold the GIL */
  void (*acquire)(void*); /**< PyEval_RestoreThread */
  void (*clear)(void);    /**< PyErr_Clear; NULL: the framework's exceptions stay set */
  int32_t dimensions;     /**< of each array; 0: any, if all shapes are equal; -1: any */
  int32_t reserved;       /**< 0 */
} fatlink_array_exchange;

/** A call with Python arrays. If `objects[i]` is not NULL, it is the PyObject for arguments[i].
    Of that argument, only `name` and `scalar` are used; `scalar` must be a number type (not
    BYTES or RECORD). */
typedef struct fatlink_object_call {
  size_t size;                            /**< sizeof(fatlink_object_call) */
  fatlink_plan const* plan;               /**< prepared for a GPU */
  fatlink_array_exchange const* exchange; /**< for the class of all objects */
  fatlink_argument const* arguments;      /**< as for fatlink_plan_run */
  size_t count;                           /**< entries of `arguments` and of `objects` */
  void* const* objects;                   /**< borrowed references; NULL: the argument itself */
  uint64_t scratch;                       /**< as for fatlink_plan_run */
  size_t scratch_bytes;                   /**< bytes at `scratch` */
} fatlink_object_call;

/** What to prepare. */
typedef struct fatlink_plan_request {
  size_t size;                            /**< sizeof(fatlink_plan_request) */
  char const* library;                    /**< a name or file, with a plan in its sidecar */
  fatlink_input const* const* transforms; /**< NULL: the library's defaults */
  size_t transform_count;                 /**< entries of `transforms` */
  fatlink_link_mode mode;                 /**< how to link them */
  int32_t reserved;                       /**< 0 */
  fatlink_input const* library_input;     /**< the library itself, if `library` is NULL */
} fatlink_plan_request;

/** Checks and links the inputs, and loads the image. Sidecars are found beside the files with
    the names of the inputs; the library's sidecar contains its plan. Errors: usage, file,
    refused, link, device, unavailable. */
FATLINK_C_API fatlink_error* fatlink_plan_prepare(fatlink_device* device, fatlink_linker* linker,
                                                  fatlink_plan_request const* request,
                                                  fatlink_plan** plan);
/** The name of the plan. */
FATLINK_C_API char const* fatlink_plan_name(fatlink_plan const* plan);
/** The linked image; owned by the plan. */
FATLINK_C_API fatlink_image const* fatlink_plan_image(fatlink_plan const* plan);
/** The number of the plan's arguments, including scratch arrays. */
FATLINK_C_API size_t fatlink_plan_argument_count(fatlink_plan const* plan);
/** Gets an argument of the plan, with the types that the transforms bind. Errors: usage. */
FATLINK_C_API fatlink_error* fatlink_plan_get_argument(fatlink_plan const* plan, size_t index,
                                                       fatlink_plan_argument* argument);
/** Gets the extents of an array, slowest first, for these sizes; other arguments may be omitted.
    `extents` receives at most `capacity` values; `dimensions` is set to their number. Errors:
    usage, file. */
FATLINK_C_API fatlink_error* fatlink_plan_extents(fatlink_plan const* plan,
                                                  fatlink_argument const* sizes, size_t count,
                                                  char const* array, uint64_t* extents,
                                                  size_t capacity, size_t* dimensions);
/** Gets the size of the scratch arrays for these sizes. Errors: usage, file. */
FATLINK_C_API fatlink_error* fatlink_plan_scratch_bytes(fatlink_plan const* plan,
                                                        fatlink_argument const* sizes, size_t count,
                                                        size_t* bytes);
/** Queues the launches of the plan on `stream` and returns. `scratch` is the address of
    `scratch_bytes` bytes of device memory, a multiple of 256; if it is 0, memory is allocated
    and released on the stream. All arguments are checked before the first launch. Errors: usage,
    file, device. */
FATLINK_C_API fatlink_error* fatlink_plan_run(fatlink_plan const* plan, void* stream,
                                              fatlink_argument const* arguments, size_t count,
                                              uint64_t scratch, size_t scratch_bytes);
/** As fatlink_plan_run, but with Python arrays, on the current stream of their framework. Arrays
    may be longer than the plan needs. The caller must hold the GIL and a reference to each array.
    Only the address, shape and type of an array are checked, not, for example, whether autograd
    tracks it. All values are passed in one struct, because ctypes has a cost for each parameter.
    Errors: usage, file, device. */
FATLINK_C_API fatlink_error* fatlink_plan_run_objects(fatlink_object_call const* call);
/** Checks the arguments once, for a call that is run many times. If the plan has scratch arrays,
    `scratch` is required.
    Errors: usage, file. */
FATLINK_C_API fatlink_error* fatlink_plan_bind(fatlink_plan const* plan,
                                               fatlink_argument const* arguments, size_t count,
                                               uint64_t scratch, size_t scratch_bytes,
                                               fatlink_call** call);
/** Queues the launches of a call on `stream`. Errors: device. */
FATLINK_C_API fatlink_error* fatlink_call_run(fatlink_call const* call, void* stream);
/** Frees a call; NULL is ignored. */
FATLINK_C_API void fatlink_call_free(fatlink_call* call);
/** Frees a plan; NULL is ignored. */
FATLINK_C_API void fatlink_plan_free(fatlink_plan* plan);

FATLINK_C_END

#endif
