/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Libraries that are run by their launch plans, as fatlink/prepare.hpp and docs/launch_plans.md:
   linked with transforms, loaded, and called with the caller's memory and stream. */
#ifndef FATLINK_C_PLAN_H
#define FATLINK_C_PLAN_H

#include "fatlink/c/device.h"
#include "fatlink/c/link.h"

FATLINK_C_BEGIN

/** A library that is ready to be called. Immutable. */
typedef struct fatlink_plan fatlink_plan;
/** A call of a plan whose arguments are fixed. Immutable. */
typedef struct fatlink_call fatlink_call;

/** What the bytes of an element mean. */
typedef int32_t fatlink_scalar;
enum {
  FATLINK_SCALAR_UNSTATED = 0, /**< only the size is compared with the plan's */
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
  FATLINK_BYTES = 15,          /**< of any meaning */
  FATLINK_RECORD = 16          /**< a struct of named fields */
};

/** What a caller gives for an argument of a plan. */
typedef int32_t fatlink_role;
enum {
  FATLINK_ROLE_INPUT = 1,   /**< a device array that the launches read */
  FATLINK_ROLE_OUTPUT = 2,  /**< a device array that they write */
  FATLINK_ROLE_SCRATCH = 3, /**< a device array that only the launches use; not passed */
  FATLINK_ROLE_SIZE = 4,    /**< an integer by which other sizes are stated */
  FATLINK_ROLE_VALUE = 5,   /**< a number or a struct */
  FATLINK_ROLE_STATE = 6    /**< user data of the transform, in device memory; may be left out */
};

/** An argument that a plan has. */
typedef struct fatlink_plan_argument {
  size_t size;           /**< sizeof(fatlink_plan_argument), set by the caller */
  char const* name;      /**< unique in the plan */
  fatlink_role role;     /**< what is given for it */
  fatlink_scalar scalar; /**< what its elements or its value mean */
  size_t element_bytes;  /**< of an element or of the value; 0 of a state */
  char const* type_name; /**< "float32", "bytes8", "window", "{value: float32, index: int32}" */
  uint32_t dimensions;   /**< of an array; 0 of others */
  uint32_t alignment;    /**< of an array's address, in bytes */
  int32_t has_default;   /**< 1: a size or value that may be left out */
  int32_t reserved;      /**< 0 */
} fatlink_plan_argument;

/** An argument of a call. All of a call have one `size`. */
typedef struct fatlink_argument {
  size_t size;      /**< sizeof(fatlink_argument) */
  char const* name; /**< of the plan's argument */
  uint64_t address; /**< of an array: its device address */
  uint64_t count;   /**< of an array: its elements; UINT64_MAX: not known; 0: none */
  void const*
      value; /**< of a size or value: `element_bytes` bytes, which are copied; NULL: an array */
  size_t element_bytes;  /**< of an element or of the value; 0: not stated (arrays whose `scalar` is
                            UNSTATED) */
  fatlink_scalar scalar; /**< what they mean; UNSTATED: not checked */
  int32_t reserved;      /**< 0 */
} fatlink_argument;

/** How the arrays of a framework of Python are read: by the C exchange API of DLPack 1.3, which
    PyTorch has since 2.10. The functions are those of Python's C interface. */
typedef struct fatlink_array_exchange {
  size_t size;     /**< sizeof(fatlink_array_exchange) */
  void const* api; /**< the pointer in the capsule `__dlpack_c_exchange_api__` of the class */
  void* (*release)(void); /**< PyEval_SaveThread; NULL: launches hold the GIL */
  void (*acquire)(void*); /**< PyEval_RestoreThread */
  void (*clear)(void);    /**< PyErr_Clear; NULL: the framework's exceptions stay set */
  int32_t dimensions;     /**< of each array; 0: any, all of one shape; -1: any, not compared */
  int32_t reserved;       /**< 0 */
} fatlink_array_exchange;

/** A call with arrays of Python. `objects[i]`, where it is not NULL, is the PyObject for
    arguments[i], of whose members only `name` and `scalar`, a number type (not BYTES or RECORD),
   are looked at. */
typedef struct fatlink_object_call {
  size_t size;                            /**< sizeof(fatlink_object_call) */
  fatlink_plan const* plan;               /**< prepared for a GPU */
  fatlink_array_exchange const* exchange; /**< of the class of all objects */
  fatlink_argument const* arguments;      /**< as of fatlink_plan_run */
  size_t count;                           /**< entries of `arguments` and of `objects` */
  void* const* objects;                   /**< borrowed references; NULL: the argument itself */
} fatlink_object_call;

/** What to prepare. */
typedef struct fatlink_plan_request {
  size_t size;                            /**< sizeof(fatlink_plan_request) */
  char const* library;                    /**< a name or file, with a plan in its sidecar */
  fatlink_input const* const* transforms; /**< NULL: the library's defaults */
  size_t transform_count;                 /**< entries of `transforms` */
  fatlink_link_mode mode;                 /**< how to link them */
  int32_t reserved;                       /**< 0 */
  fatlink_input const* library_input;     /**< the library itself, where `library` is NULL */
} fatlink_plan_request;

/** Checks and links the inputs, and loads the image. Sidecars are found beside the names of inputs;
    that of the library has its plan. Errors: usage, file, refused, link, device, unavailable.
 */
FATLINK_C_API fatlink_error* fatlink_plan_prepare(fatlink_device* device, fatlink_linker* linker,
                                                  fatlink_plan_request const* request,
                                                  fatlink_plan** plan);
/** The name of the plan. */
FATLINK_C_API char const* fatlink_plan_name(fatlink_plan const* plan);
/** The image that runs; owned by the plan. */
FATLINK_C_API fatlink_image const* fatlink_plan_image(fatlink_plan const* plan);
/** How many arguments the plan has, scratch arrays among them. */
FATLINK_C_API size_t fatlink_plan_argument_count(fatlink_plan const* plan);
/** An argument of the plan, with the types that the transforms bind. Errors: usage. */
FATLINK_C_API fatlink_error* fatlink_plan_get_argument(fatlink_plan const* plan, size_t index,
                                                       fatlink_plan_argument* argument);
/** The extents of an array, slowest first, for these sizes; other arguments may be left out.
    `extents` receives at most `capacity`, `dimensions` is set to their number. Errors: usage, file.
 */
FATLINK_C_API fatlink_error* fatlink_plan_extents(fatlink_plan const* plan,
                                                  fatlink_argument const* sizes, size_t count,
                                                  char const* array, uint64_t* extents,
                                                  size_t capacity, size_t* dimensions);
/** The memory that the scratch arrays take for these sizes. Errors: usage, file. */
FATLINK_C_API fatlink_error* fatlink_plan_scratch_bytes(fatlink_plan const* plan,
                                                        fatlink_argument const* sizes, size_t count,
                                                        size_t* bytes);
/** Queues the launches of the plan on `stream` and returns. `scratch`: device memory of
    `scratch_bytes`, a multiple of 256; 0: allocated and released on the stream. Everything is
   checked before the first launch. Errors: usage, file, device. */
FATLINK_C_API fatlink_error* fatlink_plan_run(fatlink_plan const* plan, void* stream,
                                              fatlink_argument const* arguments, size_t count,
                                              uint64_t scratch, size_t scratch_bytes);
/** As fatlink_plan_run, with arrays of Python, on the current stream of their framework. Arrays may
    be longer than the plan needs, as those of fatlink_plan_run. The caller holds the GIL and a
    reference to each array. What is not in the array's address, shape and type is not checked, such
    as whether autograd follows it. One parameter, because ctypes takes time for each.
    Errors: usage, file, device. */
FATLINK_C_API fatlink_error* fatlink_plan_run_objects(fatlink_object_call const* call);
/** The same call, to be run many times. Of a plan with scratch arrays, `scratch` is given.
    Errors: usage, file. */
FATLINK_C_API fatlink_error* fatlink_plan_bind(fatlink_plan const* plan,
                                               fatlink_argument const* arguments, size_t count,
                                               uint64_t scratch, size_t scratch_bytes,
                                               fatlink_call** call);
/** Queues its launches on `stream`. Errors: device. */
FATLINK_C_API fatlink_error* fatlink_call_run(fatlink_call const* call, void* stream);
/** Frees a call; NULL is ignored. */
FATLINK_C_API void fatlink_call_free(fatlink_call* call);
/** Frees a plan; NULL is ignored. */
FATLINK_C_API void fatlink_plan_free(fatlink_plan* plan);

FATLINK_C_END

#endif
