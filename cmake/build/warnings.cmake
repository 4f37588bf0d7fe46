# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_warnings
----------------
Warnings for fatlink's own targets; errors where ``FATLINK_WERROR`` is on (our presets).

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
