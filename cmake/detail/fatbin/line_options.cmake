# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_line_options
--------------------
Replaces nvcc's options for line information by the equivalent options of its compiler, cicc.

  fatlink_line_options(<options> <out-options> <out-has-lines>)

With ``-lineinfo`` nvcc passes ``--ident=<source>`` to fatbinary as the last option, which replaces fatlink's ident.
``-Xcicc`` gives the same PTX and LTO-IR, and the same cubins after a link (observed with CUDA 13.0).
#]=======================================================================]
include_guard(GLOBAL)

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
