# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_float_flags
-------------------
Gives the float flags that result from nvcc options, in the spelling of fatbin entries.

  fatlink_float_flags(<options> <out-var>)
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_float_flags options out)
  set(ftz 0)
  set(prec_div 1)
  set(prec_sqrt 1)
  set(fmad 1)
  foreach(option IN LISTS options)
    if(option MATCHES "^--?use_fast_math$")
      set(ftz 1)
      set(prec_div 0)
      set(prec_sqrt 0)
      set(fmad 1)
    elseif(option MATCHES "^--?(ftz|prec-div|prec-sqrt|fmad)=(true|false)$")
      string(REPLACE "-" "_" name "${CMAKE_MATCH_1}")
      string(REPLACE "true" "1" value "${CMAKE_MATCH_2}")
      string(REPLACE "false" "0" value "${value}")
      set(${name} ${value})
    endif()
  endforeach()
  set(${out} "-ftz=${ftz} -prec_div=${prec_div} -prec_sqrt=${prec_sqrt} -fmad=${fmad}" PARENT_SCOPE)
endfunction()
