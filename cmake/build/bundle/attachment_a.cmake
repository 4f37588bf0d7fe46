# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_distributable
---------------------
The shared libraries for Linux that a CUDA licence lists in its Attachment A, "The following portions of
the SDK are distributable".

  fatlink_distributable(<licence file> <out-var>)

Gives names as the licence has them, e.g. ``libcudart.so``, under its headings "Linux" and "All". Prose
in the attachment is no list. Not among them: the driver's libraries, whose distribution has conditions
that no build can check. A text without that section gives ``NOTFOUND``.

The layout is that of the licence's text (headings on lines of their own, names separated by commas and
wrapped over lines) or of its page saved as text (a bar after each cell).
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_distributable file out)
  file(READ "${file}" text)
  # What would be syntax in a CMake list.
  string(REGEX REPLACE "[][;\\\\\r|*#]" " " text "${text}")
  string(REGEX MATCH "The[ \n]+following[ \n]+portions[ \n]+of[ \n]+the[ \n]+SDK[ \n]+are[ \n]+distributable"
    start "${text}")
  if(start STREQUAL "")
    set(${out} NOTFOUND PARENT_SCOPE)
    return()
  endif()
  string(FIND "${text}" "${start}" at)
  string(SUBSTRING "${text}" ${at} -1 text)
  string(FIND "${text}" "Attachment B" end)
  string(SUBSTRING "${text}" 0 ${end} text)

  string(REPLACE "\n" ";" lines "${text}")
  set(for_linux FALSE)
  set(found "")
  foreach(line IN LISTS lines)
    string(STRIP "${line}" line)
    if(line MATCHES "^(Linux|All)$")
      set(for_linux TRUE)
    elseif(line MATCHES "^[A-Za-z0-9_./+-]+\\.[a-z]+([, ]+[A-Za-z0-9_./+-]+\\.[0-9a-z]+)*,?$")
      if(for_linux)
        string(REGEX MATCHALL "lib[A-Za-z0-9_+-]+\\.so" names "${line}")
        list(APPEND found ${names})
      endif()
    elseif(line)  # another heading, or prose
      set(for_linux FALSE)
    endif()
  endforeach()
  list(FILTER found EXCLUDE REGEX "^lib(cuda|nvidia-.*)\\.so$")
  list(REMOVE_DUPLICATES found)
  set(${out} "${found}" PARENT_SCOPE)
endfunction()
