# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_distributable
---------------------
Gives the shared libraries for Linux that a CUDA licence lists in its Attachment A, "The following portions of the
SDK are distributable".

  fatlink_distributable(<licence file> <out-var>)

The names are spelled as in the licence, for example ``libcudart.so``, from the lists under the headings "Linux" and
"All"; prose is ignored. Libraries of the driver are left out, because their distribution has conditions that a
build cannot check. The result is ``NOTFOUND`` if the text has no such section.

Two layouts are supported: the licence's text (headings on separate lines, names separated by commas and wrapped),
and its web page saved as text (a bar after each cell).
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_distributable file out)
  file(READ "${file}" text)
  # Remove characters that have a meaning in CMake lists.
  string(REGEX REPLACE "[][;\\\\\r|*#]" " " text "${text}")
  string(REGEX MATCH "The[ \n]+following[ \n]+portions[ \n]+of[ \n]+the[ \n]+SDK[ \n]+are[ \n]+distributable"
    start "${text}")
  if(start STREQUAL "")
    set(${out} NOTFOUND PARENT_SCOPE)
    return()
  endif()
  string(FIND "${text}" "${start}" offset)
  string(SUBSTRING "${text}" ${offset} -1 text)
  string(FIND "${text}" "Attachment B" end)
  string(SUBSTRING "${text}" 0 ${end} text)

  string(REPLACE "\n" ";" lines "${text}")
  set(for_linux FALSE)
  set(libraries "")
  foreach(line IN LISTS lines)
    string(STRIP "${line}" line)
    if(line MATCHES "^(Linux|All)$")
      set(for_linux TRUE)
    elseif(line MATCHES "^[A-Za-z0-9_./+-]+\\.[a-z]+([, ]+[A-Za-z0-9_./+-]+\\.[0-9a-z]+)*,?$")
      if(for_linux)
        string(REGEX MATCHALL "lib[A-Za-z0-9_+-]+\\.so" names "${line}")
        list(APPEND libraries ${names})
      endif()
    elseif(line)  # another heading or prose
      set(for_linux FALSE)
    endif()
  endforeach()
  list(FILTER libraries EXCLUDE REGEX "^lib(cuda|nvidia-.*)\\.so$")
  list(REMOVE_DUPLICATES libraries)
  set(${out} "${libraries}" PARENT_SCOPE)
endfunction()
