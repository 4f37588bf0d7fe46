# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
toolkit_links
-------------
Binaries contain no path of the build machine, and a toolkit in ``.cuda/`` or another folder of the build's choice is in
none that is searched at run time. So links to its nvJitLink, NVRTC and libNVVM are placed in the build tree's ``lib``,
unless ``/usr/local/cuda`` has that library. What belongs to a library (NVRTC's builtins, libdevice, the headers) is
searched beside the file that a link leads to.
#]=======================================================================]

if(NOT DEFINED FATLINK_DEFAULT_TOOLKIT)  # tests set another
  set(FATLINK_DEFAULT_TOOLKIT /usr/local/cuda)
endif()

# Links to the first of the files that exists, unless this folder of the default toolkit has a file of that name.
function(_fatlink_link_toolkit_library folder)
  foreach(file IN LISTS ARGN)
    cmake_path(GET file FILENAME name)
    if(EXISTS "${file}" AND NOT EXISTS "${FATLINK_DEFAULT_TOOLKIT}/${folder}/${name}")
      file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
      file(CREATE_LINK "${file}" "${PROJECT_BINARY_DIR}/lib/${name}" SYMBOLIC)
      return()
    endif()
  endforeach()
endfunction()

_fatlink_link_toolkit_library(lib64 "${CUDAToolkit_LIBRARY_DIR}/libnvJitLink.so.13")
_fatlink_link_toolkit_library(lib64 "${CUDAToolkit_LIBRARY_DIR}/libnvrtc.so.13")
# In wheels, libNVVM is beside the others.
_fatlink_link_toolkit_library(nvvm/lib64
  "${CUDAToolkit_LIBRARY_DIR}/libnvvm.so.4" "${CUDAToolkit_BIN_DIR}/../nvvm/lib64/libnvvm.so.4")
