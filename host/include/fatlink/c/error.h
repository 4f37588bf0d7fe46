/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Errors and findings. docs/findings.md lists every code and finding with its cause and remedy. */
#ifndef FATLINK_C_ERROR_H
#define FATLINK_C_ERROR_H

#include "fatlink/c/base.h"

FATLINK_C_BEGIN

/** Why a call failed. */
typedef struct fatlink_error fatlink_error;

/** Kinds of errors; they correspond to the classes in fatlink/error.hpp. */
typedef int32_t fatlink_error_kind;
enum {
  FATLINK_ERROR_USAGE = 1, /**< an argument of the caller is malformed */
  FATLINK_ERROR_FILE = 2, /**< a file cannot be read, has the wrong content, or cannot be written */
  FATLINK_ERROR_REFUSED = 3, /**< preflight refused the inputs; see fatlink_error_findings */
  FATLINK_ERROR_LINK = 4,    /**< nvJitLink refused or failed a link */
  FATLINK_ERROR_COMPILE = 5, /**< a compiler refused or failed to compile a source */
  FATLINK_ERROR_DEVICE = 6,  /**< a device failed a call */
  FATLINK_ERROR_UNAVAILABLE =
      7,                    /**< a device, driver, nvJitLink, compiler or the helper is missing */
  FATLINK_ERROR_MEMORY = 8, /**< the host or a device lacks memory */
  FATLINK_ERROR_DEFECT = 9, /**< an error in fatlink itself */
  FATLINK_ERROR_CANCELLED = 10 /**< the caller cancelled the call */
};

/** A function that decides whether a call is cancelled. If it returns non-zero, the call fails
    with kind CANCELLED. It is called in the calling thread, and may call functions of this
    interface. */
typedef int32_t (*fatlink_cancel_check)(void* context);
/** Sets the cancel check of this thread; NULL removes it. A call runs `check` about ten times a
    second while it waits for the helper, which links and compiles, and while the reference device
    executes a kernel. `check` is not run while a call waits for a GPU (its kernels cannot be
    stopped), and while it links in this process. To cancel from a signal handler or another
    thread, set a flag that `check` reads. */
FATLINK_C_API void fatlink_set_cancel_check(fatlink_cancel_check check, void* context);

/** How messages and hints name options. */
typedef int32_t fatlink_wording;
enum {
  FATLINK_WORDING_C = 0,     /**< "fatlink_link_options.kernels" */
  FATLINK_WORDING_PYTHON = 1 /**< "kernels", as the Python package names it */
};
/** Sets the wording of errors and findings for all later calls of this process; the default is
    FATLINK_WORDING_C. It is for packages that offer this interface in another language. */
FATLINK_C_API void fatlink_set_wording(fatlink_wording wording);

/** The kind of an error. */
FATLINK_C_API fatlink_error_kind fatlink_error_get_kind(fatlink_error const* error);
/** The stage in which the error occurred: "usage", "input", "fatbin", "preflight", "linker",
    "device", ... */
FATLINK_C_API char const* fatlink_error_stage(fatlink_error const* error);
/** The code of an error, for programs: "missing-hook", "NVJITLINK_ERROR_PTX_COMPILE",
    "CUDA_ERROR_ILLEGAL_ADDRESS"; never empty. */
FATLINK_C_API char const* fatlink_error_code(fatlink_error const* error);
/** The message: one line without control characters, the file or value and then the cause; never
    empty. */
FATLINK_C_API char const* fatlink_error_message(fatlink_error const* error);
/** The file or value that caused the error, as the caller passed it; may be empty. */
FATLINK_C_API char const* fatlink_error_input(fatlink_error const* error);
/** The remedy, one line without control characters; may be empty. */
FATLINK_C_API char const* fatlink_error_hint(fatlink_error const* error);
/** The complete log of nvJitLink or a compiler; may be empty. */
FATLINK_C_API char const* fatlink_error_log(fatlink_error const* error);
/** The exit status for a program that ends with this error. 2: usage, 3: file, 4: a link or
    compile was refused, 5: something is missing or a device failed, 70: a defect, 130:
    cancelled. */
FATLINK_C_API int32_t fatlink_error_exit_status(fatlink_error const* error);
/** Frees an error; NULL is ignored. */
FATLINK_C_API void fatlink_error_free(fatlink_error* error);

/** A list of findings of preflight. */
typedef struct fatlink_findings fatlink_findings;

/** A problem that preflight found in the inputs. */
typedef struct fatlink_finding {
  size_t size;              /**< sizeof(fatlink_finding), set by the caller */
  char const* id;           /**< "missing-hook" */
  int32_t is_error;         /**< 1: an error, which stops the link; 0: a warning */
  uint32_t file_count;      /**< entries of `files` */
  char const* const* files; /**< every input involved */
  char const* symbol;       /**< the hook, kernel or definition concerned; may be empty */
  char const* message;      /**< one line: file and cause */
  char const* hint;         /**< the remedy */
} fatlink_finding;

/** The findings of an error of kind REFUSED; NULL for other errors. Owned by the error. */
FATLINK_C_API fatlink_findings const* fatlink_error_findings(fatlink_error const* error);
/** The number of findings. */
FATLINK_C_API size_t fatlink_findings_count(fatlink_findings const* findings);
/** Gets the finding with this index; errors come first. Errors: usage: the index is too large. */
FATLINK_C_API fatlink_error* fatlink_findings_get(fatlink_findings const* findings, size_t index,
                                                  fatlink_finding* finding);
/** Frees findings that fatlink_check returned; NULL is ignored. */
FATLINK_C_API void fatlink_findings_free(fatlink_findings* findings);

FATLINK_C_END

#endif
