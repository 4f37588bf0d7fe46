# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_device_includes
-----------------------
The folder of the headers ``<fatlink/....cuh>`` for device code: installed with the runtime, or in fatlink's own tree.

  fatlink_device_includes(<out-folder>)
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_device_includes folder_out)
  cmake_path(SET folder NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../kernels/include")
  if(FATLINK_SHARE_DIR)
    set(folder "${FATLINK_SHARE_DIR}/include")
  endif()
  set(${folder_out} "${folder}" PARENT_SCOPE)
endfunction()
