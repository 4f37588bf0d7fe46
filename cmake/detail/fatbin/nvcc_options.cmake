# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
nvcc_options
------------
The options of ``fatlink_add_fatbin`` for nvcc: which are allowed, and what they mean for a fatbin.

  fatlink_check_nvcc_options(<caller> <options>)

Stops with the name of an option that sets an architecture or an output, or compiles for a debugger.

  fatlink_float_flags(<options> <out-var>)

Gives the float flags that result from the options, in the spelling of fatbin entries.

  fatlink_line_options(<options> <out-options> <out-has-lines>)

Replaces options for line information by the equivalent options of nvcc's compiler, cicc. With ``-lineinfo`` nvcc passes
``--ident=<source>`` to fatbinary as the last option, which replaces fatlink's ident. ``-Xcicc`` gives the same PTX and
LTO-IR, and the same cubins after a link (observed with CUDA 13.0).
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_check_nvcc_options caller options)
  foreach(option IN LISTS options)
    if(option MATCHES "^(--?arch|--?gencode|--?gpu-|--?code|-G$|--device-debug|-o|--output|-c$|-dc$|-dlto|--fatbin|-fatbin|-cubin|-ptx)")
      message(FATAL_ERROR "${caller}: OPTIONS ${option} is not allowed: it changes what the fatbin holds; use "
        "ARCHITECTURES, SASS or OUTPUT_NAME, or remove it")
    endif()
  endforeach()
endfunction()

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

function(fatlink_line_options options options_out has_lines_out)
  set(replaced "")
  set(has_lines FALSE)
  foreach(option IN LISTS options)
    if(option MATCHES "^(-lineinfo|--?generate-line-info)$")
      list(APPEND replaced -Xcicc -generate-line-info)
      set(has_lines TRUE)
    elseif(option MATCHES "^(-src-in-ptx|--?source-in-ptx)$")
      list(APPEND replaced -Xcicc -show-src)
    else()
      list(APPEND replaced "${option}")
    endif()
  endforeach()
  set(${options_out} "${replaced}" PARENT_SCOPE)
  set(${has_lines_out} ${has_lines} PARENT_SCOPE)
endfunction()
