# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_bundle_cuda
-------------------
Installs libraries of the CUDA Toolkit beside fatlink, as far as the toolkit's licence lets them be
distributed. None unless asked for: nvJitLink is found at run time.

  fatlink_bundle_cuda(DESTINATION <folder> COMPONENT <component>)

``FATLINK_BUNDLE_CUDA``
  Cache variable: the libraries, as the toolkit names them, e.g. ``nvJitLink``.
``FATLINK_CUDA_LICENSE``
  Cache variable: the vendor's licence. Default: the toolkit's, where one is found.

A library that Attachment A of the licence does not list stops configuration. One that is listed is
installed as it is, under its soname: the licence allows no change, so these are files to CMake, which
``install/strip`` and ``CPACK_STRIP_FILES`` leave alone; rpmbuild, which strips whatever it finds, is told
not to (detail/package/cpack.cmake). The licence goes with it, as ``share/doc/fatlink-<component>/CUDA-EULA.txt``.

Appends what it installs to the global property ``FATLINK_BUNDLED_LICENSES``, for the argument
``LICENSES`` of ``fatlink_write_sbom``. Unknown or missing arguments stop configuration.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/attachment_a.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/elf.cmake")

set(FATLINK_BUNDLE_CUDA "" CACHE STRING
  "Libraries of the CUDA Toolkit to install, e.g. nvJitLink, if its licence allows it")
set(FATLINK_CUDA_LICENSE "" CACHE FILEPATH "The CUDA Toolkit's licence; empty: the toolkit's own file")

function(fatlink_bundle_cuda)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "DESTINATION;COMPONENT" "")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "fatlink_bundle_cuda: unknown argument: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  foreach(argument IN ITEMS DESTINATION COMPONENT)
    if("${arg_${argument}}" STREQUAL "")
      message(FATAL_ERROR "fatlink_bundle_cuda: ${argument} is missing")
    endif()
  endforeach()
  if(FATLINK_BUNDLE_CUDA STREQUAL "")
    return()
  endif()
  _fatlink_cuda_license(license)
  fatlink_distributable("${license}" distributable)
  if(distributable STREQUAL "NOTFOUND")
    message(FATAL_ERROR "FATLINK_BUNDLE_CUDA: ${license}: has no Attachment A that says what is "
      "distributable. Name the licence of your toolkit with -DFATLINK_CUDA_LICENSE=FILE.")
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

# The licence's file: the one named, else the toolkit's, of an installer or of wheels.
function(_fatlink_cuda_license out)
  if(FATLINK_CUDA_LICENSE)
    set(found "${FATLINK_CUDA_LICENSE}")
    if(NOT EXISTS "${found}" OR IS_DIRECTORY "${found}")
      message(FATAL_ERROR "FATLINK_CUDA_LICENSE: ${found}: no such file")
    endif()
    set(${out} "${found}" PARENT_SCOPE)
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

# As files: what is a library to CMake is stripped.
function(_fatlink_install_cuda name destination component)
  _fatlink_cuda_library("${name}" library)
  fatlink_read_elf("${library}" SONAME soname NEEDED needed)
  install(FILES "${library}" DESTINATION "${destination}" RENAME "${soname}" COMPONENT "${component}")
  string(REGEX REPLACE "[.+]" "[\\0]" expression "${soname}")
  set_property(GLOBAL APPEND PROPERTY FATLINK_BUNDLED_LICENSES
    "/${expression}$=LicenseRef-NVIDIA-CUDA-EULA")
endfunction()

# The real file of lib<name>.so.<version>.
function(_fatlink_cuda_library name out)
  file(GLOB found "${CUDAToolkit_LIBRARY_DIR}/lib${name}.so.*")
  list(FILTER found INCLUDE REGEX "\\.so\\.[0-9.]+$")
  set(real "")
  foreach(file IN LISTS found)
    file(REAL_PATH "${file}" file)
    list(APPEND real "${file}")
  endforeach()
  list(REMOVE_DUPLICATES real)
  list(LENGTH real count)
  if(count EQUAL 0)
    message(FATAL_ERROR "FATLINK_BUNDLE_CUDA: ${name}: no lib${name}.so.<version> in "
      "${CUDAToolkit_LIBRARY_DIR}. Name libraries as the toolkit does, e.g. nvJitLink.")
  elseif(count GREATER 1)
    list(JOIN real ", " real)
    message(FATAL_ERROR "FATLINK_BUNDLE_CUDA: ${name}: several files, and only one can go into a "
      "package: ${real}. Name a toolkit that has one, with -DCUDAToolkit_ROOT=FOLDER.")
  endif()
  set(${out} "${real}" PARENT_SCOPE)
endfunction()

function(_fatlink_check_distributable name license distributable)
  if(name MATCHES "^(cuda|nvidia-.*)$")
    message(FATAL_ERROR "FATLINK_BUNDLE_CUDA: ${name}: lib${name}.so is of the driver, of which each "
      "host has its own. Leave it out.")
  elseif(NOT "lib${name}.so" IN_LIST distributable)
    message(FATAL_ERROR "FATLINK_BUNDLE_CUDA: ${name}: Attachment A of ${license} does not list "
      "lib${name}.so among what may be distributed. Get the End User License Agreement of your toolkit "
      "from the vendor, and if it lists lib${name}.so, name it with -DFATLINK_CUDA_LICENSE=FILE; "
      "else leave ${name} out.")
  endif()
endfunction()
