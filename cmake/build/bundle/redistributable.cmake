# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_bundle_cuda
-------------------
Installs libraries of the CUDA Toolkit beside fatlink, if the toolkit's licence allows their distribution. Default:
none, because nvJitLink is found at run time.

  fatlink_bundle_cuda(DESTINATION <folder> COMPONENT <component>)

``FATLINK_BUNDLE_CUDA``
  Cache variable: the libraries, named as in the toolkit, for example ``nvJitLink``.
``FATLINK_CUDA_LICENSE``
  Cache variable: file with the vendor's licence. Default: the toolkit's, if one is found.

A library that Attachment A of the licence does not list stops configuration. The licence allows no changes, so
libraries are installed as files, under their sonames: ``install/strip`` and ``CPACK_STRIP_FILES`` do not touch
files, and rpmbuild is told not to strip (FatlinkAddPackage.cmake). The licence is installed as
``share/doc/fatlink-<component>/CUDA-EULA.txt``.

Appends the installed files to the global property ``FATLINK_BUNDLED_LICENSES``, for the packages' SPDX documents
(detail/sbom.py). Unknown or missing arguments stop configuration.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/../../detail/arguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/attachment_a.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/elf.cmake")

set(FATLINK_BUNDLE_CUDA "" CACHE STRING
  "Libraries of the CUDA Toolkit to install, e.g. nvJitLink, if its licence allows it")
set(FATLINK_CUDA_LICENSE "" CACHE FILEPATH "The CUDA Toolkit's licence; empty: the toolkit's own file")

function(fatlink_bundle_cuda)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "DESTINATION;COMPONENT" "")
  fatlink_check_arguments(fatlink_bundle_cuda DESTINATION COMPONENT)
  if(FATLINK_BUNDLE_CUDA STREQUAL "")
    return()
  endif()
  _fatlink_cuda_license(license)
  fatlink_distributable("${license}" distributable)
  if(distributable STREQUAL "NOTFOUND")
    message(FATAL_ERROR "FATLINK_BUNDLE_CUDA: ${license} has no Attachment A that lists the distributable "
      "libraries. Name the licence of your toolkit with -DFATLINK_CUDA_LICENSE=FILE.")
  endif()

  foreach(name IN LISTS FATLINK_BUNDLE_CUDA)
    _fatlink_check_distributable("${name}" "${license}" "${distributable}")
    _fatlink_install_cuda("${name}" "${arg_DESTINATION}" "${arg_COMPONENT}")
  endforeach()
  install(FILES "${license}" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/fatlink-${arg_COMPONENT}"
    RENAME CUDA-EULA.txt COMPONENT "${arg_COMPONENT}")
  set_property(GLOBAL APPEND PROPERTY FATLINK_BUNDLED_LICENSES
    "/CUDA-EULA[.]txt$=LicenseRef-NVIDIA-CUDA-EULA")
endfunction()

# The licence file: FATLINK_CUDA_LICENSE, else that of the toolkit (an installer's, or the wheels').
function(_fatlink_cuda_license out)
  if(FATLINK_CUDA_LICENSE)
    if(NOT EXISTS "${FATLINK_CUDA_LICENSE}" OR IS_DIRECTORY "${FATLINK_CUDA_LICENSE}")
      message(FATAL_ERROR "FATLINK_CUDA_LICENSE: ${FATLINK_CUDA_LICENSE}: no such file")
    endif()
    set(${out} "${FATLINK_CUDA_LICENSE}" PARENT_SCOPE)
    return()
  endif()
  cmake_path(GET CUDAToolkit_BIN_DIR PARENT_PATH root)
  file(GLOB wheels "${root}/dist-info/nvidia_nvjitlink-*/licenses/License.txt")
  foreach(file IN ITEMS "${root}/EULA.txt" "${root}/doc/EULA.txt" ${wheels} "${root}/License.txt")
    if(EXISTS "${file}")
      set(${out} "${file}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "FATLINK_BUNDLE_CUDA: no licence was found in ${root}. Get the End User License "
    "Agreement of your toolkit from the vendor and name it with -DFATLINK_CUDA_LICENSE=FILE.")
endfunction()

# Installs the library as a file, because CMake strips libraries.
function(_fatlink_install_cuda name destination component)
  _fatlink_cuda_library("${name}" library)
  fatlink_read_elf("${library}" SONAME soname NEEDED needed)
  install(FILES "${library}" DESTINATION "${destination}" RENAME "${soname}" COMPONENT "${component}")
  string(REGEX REPLACE "[.+]" "[\\0]" expression "${soname}")
  set_property(GLOBAL APPEND PROPERTY FATLINK_BUNDLED_LICENSES
    "/${expression}$=LicenseRef-NVIDIA-CUDA-EULA")
endfunction()

# The file of lib<name>.so.<version>, with links resolved.
function(_fatlink_cuda_library name out)
  file(GLOB paths "${CUDAToolkit_LIBRARY_DIR}/lib${name}.so.*")
  list(FILTER paths INCLUDE REGEX "\\.so\\.[0-9.]+$")
  set(files "")
  foreach(path IN LISTS paths)
    file(REAL_PATH "${path}" file)
    list(APPEND files "${file}")
  endforeach()
  list(REMOVE_DUPLICATES files)
  list(LENGTH files count)
  if(count EQUAL 0)
    message(FATAL_ERROR "FATLINK_BUNDLE_CUDA: ${name}: no lib${name}.so.<version> in "
      "${CUDAToolkit_LIBRARY_DIR}. Name libraries as the toolkit does, for example nvJitLink.")
  elseif(count GREATER 1)
    list(JOIN files ", " files)
    message(FATAL_ERROR "FATLINK_BUNDLE_CUDA: ${name}: a package can hold only one of these "
      "files: ${files}. Name a toolkit that has one of them with -DCUDAToolkit_ROOT=FOLDER.")
  endif()
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

function(_fatlink_check_distributable name license distributable)
  if(name MATCHES "^(cuda|nvidia-.*)$")
    message(FATAL_ERROR "FATLINK_BUNDLE_CUDA: ${name}: lib${name}.so belongs to the driver, which each "
      "machine installs itself. Remove it from the list.")
  elseif(NOT "lib${name}.so" IN_LIST distributable)
    message(FATAL_ERROR "FATLINK_BUNDLE_CUDA: ${name}: Attachment A of ${license} does not list "
      "lib${name}.so as distributable. Get the End User License Agreement of your toolkit from the vendor; if "
      "it lists lib${name}.so, name it with -DFATLINK_CUDA_LICENSE=FILE, else remove ${name} from the list.")
  endif()
endfunction()
