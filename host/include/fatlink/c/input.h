/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Inputs of links (see fatlink/input.hpp): fatbins, PTX, LTO-IR, cubins, objects and archives.
   Needs neither CUDA nor a GPU. */
#ifndef FATLINK_C_INPUT_H
#define FATLINK_C_INPUT_H

#include "fatlink/c/error.h"

FATLINK_C_BEGIN

/** An input in memory, read once and checked. Immutable. */
typedef struct fatlink_input fatlink_input;

/** Reads an input by name ("gelu": the installed gelu.fatbin) or file. Errors: file. */
FATLINK_C_API fatlink_error* fatlink_input_find(char const* name_or_file, fatlink_input** input);
/** Reads a file. If its sidecar states a digest, the file must have it. Errors: file. */
FATLINK_C_API fatlink_error* fatlink_input_read(char const* path, fatlink_input** input);
/** Makes an input of bytes, which are copied; `name` is for messages. Errors: file. */
FATLINK_C_API fatlink_error* fatlink_input_from_bytes(void const* bytes, size_t count,
                                                      char const* name, fatlink_input** input);
/** The name of the input, for messages. */
FATLINK_C_API char const* fatlink_input_name(fatlink_input const* input);
/** The form of the input: "fatbin", "ptx", "ltoir", "cubin", "object" or "archive". */
FATLINK_C_API char const* fatlink_input_form(fatlink_input const* input);
/** The bytes of the input; `count` is set to their number. */
FATLINK_C_API void const* fatlink_input_bytes(fatlink_input const* input, size_t* count);
/** The SHA-256 of the bytes, as 64 hexadecimal digits. */
FATLINK_C_API char const* fatlink_input_digest(fatlink_input const* input);
/** Whether the bytes are known to be unchanged since the build: 1 or 0. */
FATLINK_C_API int32_t fatlink_input_is_verified(fatlink_input const* input);
/** Combines fatbins of one translation unit, compiled for several architectures, to one fatbin, as
    `fatlink pack` does. `output` is the file to write, with its sidecar; NULL: none. `package` is
    "NAME" or "NAME VERSION", which the fatbin states; NULL: as the inputs state it. `warnings` may
    be NULL; it receives lines to be freed with fatlink_text_free, or NULL if there are none.
   Errors: usage, file, refused. */
FATLINK_C_API fatlink_error* fatlink_pack(fatlink_input const* const* inputs, size_t count,
                                          char const* output, char const* package,
                                          fatlink_input** fatbin, char** warnings);
/** Frees an input; NULL is ignored. */
FATLINK_C_API void fatlink_input_free(fatlink_input* input);

/** Finds the file that fatlink_input_find would read, without opening it. Free the path with
    fatlink_text_free. Errors: file: no fatbin with this name is installed. */
FATLINK_C_API fatlink_error* fatlink_find_file(char const* name_or_file, char** path);
/** Replaces $FATLINK_PYTHON_PATH in this process: the folders are searched for fatbins, contracts
    and cache layers from now on. fatlink's Python package calls this. `folders` has elements
    "DISTRIBUTION=FOLDER", separated by colons: "mix 2.1=/opt/env/mix/share/fatlink". */
FATLINK_C_API fatlink_error* fatlink_set_python_path(char const* folders);
/** Frees a text; NULL is ignored. */
FATLINK_C_API void fatlink_text_free(char* text);

FATLINK_C_END

#endif
