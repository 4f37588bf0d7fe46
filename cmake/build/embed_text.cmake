# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
embed_text
----------
Writes a C++ source with the text of a file: ``char const* const <NAME>`` in the namespace ``fatlink::cli``. The build
runs it as ``cmake -DINPUT=<file> -DOUTPUT=<file.cpp> -DNAME=<name> -P embed_text.cmake``.
#]=======================================================================]
file(READ "${INPUT}" text)
set(limit "end_of_text")  # of the raw string; at most 16 characters
string(FIND "${text}" ")${limit}\"" place)
if(NOT place EQUAL -1)
  message(FATAL_ERROR "${INPUT}: the text cannot be embedded: it has ')${limit}\"'")
endif()
get_filename_component(name "${INPUT}" NAME)
file(WRITE "${OUTPUT}" "// Made from ${name} by embed_text.cmake.\nnamespace fatlink::cli {\n"
  "extern char const* const ${NAME};\nchar const* const ${NAME} = R\"${limit}(${text})${limit}\";\n}  // namespace fatlink::cli\n")
