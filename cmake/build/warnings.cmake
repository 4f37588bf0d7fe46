# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_warnings
----------------
Turns on warnings for fatlink's own targets; they are errors if ``FATLINK_WERROR`` is on, as in the presets.

  fatlink_warnings(<target>...)
#]=======================================================================]
option(FATLINK_WERROR "Treat warnings as errors" OFF)

function(fatlink_warnings)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE
      -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast
      $<$<BOOL:${FATLINK_WERROR}>:-Werror>)
  endforeach()
endfunction()
