# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
operator_links
--------------
``FATLINK_OPERATOR_LINKS``, on for the Python wheel: the cache layer with the links of the operators that Python names
("add", "max", ...), of the common types and for the GPUs of CUDA 13 (link_operators.py has the list), built in
``share/fatlink/cache`` and installed there. It is made with the nvJitLink and the NVRTC of nvcc's toolkit, on all cores;
the same inputs give the same bytes. With ``FATLINK_NATIVE_BUILD`` the layer is copied from that build.
#]=======================================================================]
option(FATLINK_OPERATOR_LINKS "Ship the links of the operators that Python names, which takes minutes to build" ${FATLINK_WHEEL})
if(NOT FATLINK_OPERATOR_LINKS)
  return()
endif()
if(NOT Python3_EXECUTABLE)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()
set(environment "")
foreach(library IN ITEMS nvJitLink nvrtc)
  fatlink_toolkit_library("FATLINK_OPERATOR_LINKS" ${library} file)
  if(NOT file)
    message(FATAL_ERROR "FATLINK_OPERATOR_LINKS: no lib${library}.so.13 in ${FATLINK_TOOLKIT_ROOT}; install it, or set "
      "FATLINK_OPERATOR_LINKS=OFF")
  endif()
  string(TOUPPER "${library}" variable)
  list(APPEND environment "FATLINK_${variable}=${file}")
endforeach()

set(script "${CMAKE_CURRENT_LIST_DIR}/link_operators.py")
set(layer "${FATLINK_DATA_DIR}/cache")
file(GLOB package CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/host/python/fatlink/*.py")
set(fatbins "")
foreach(folder IN ITEMS algorithms transforms)
  get_property(targets DIRECTORY "${PROJECT_SOURCE_DIR}/kernels/${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(fatbin ${target} FATLINK_FATBIN)
    if(fatbin)
      list(APPEND fatbins "${fatbin}")
    endif()
  endforeach()
endforeach()
set(stamp "${PROJECT_BINARY_DIR}/operator_links.stamp")
if(FATLINK_NATIVE_BUILD)
  cmake_path(ABSOLUTE_PATH FATLINK_NATIVE_BUILD BASE_DIRECTORY "${PROJECT_BINARY_DIR}" NORMALIZE OUTPUT_VARIABLE native)
  add_custom_command(OUTPUT "${stamp}"
    COMMAND "${CMAKE_COMMAND}" -E copy_directory "${native}/share/fatlink/cache" "${layer}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS "${native}/operator_links.stamp"
    COMMENT "Copying the links of the operators that Python names"
    VERBATIM)
else()
  add_custom_command(OUTPUT "${stamp}"
    COMMAND "${CMAKE_COMMAND}" -E env ${environment} "${Python3_EXECUTABLE}" -B "${script}"
      --package "${PROJECT_SOURCE_DIR}/host/python/fatlink" --build "${PROJECT_BINARY_DIR}" --layer "${layer}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS "${script}" ${package} ${fatbins} fatlink_program fatlink_shared fatlink_linkd
    COMMENT "Linking the operators that Python names"
    USES_TERMINAL VERBATIM)
endif()
add_custom_target(operator_links ALL DEPENDS "${stamp}")
set_property(GLOBAL APPEND PROPERTY FATLINK_DEVICE_CODE operator_links)
if(FATLINK_INSTALL)
  install(DIRECTORY "${layer}/" DESTINATION "${CMAKE_INSTALL_DATADIR}/fatlink/cache" COMPONENT transforms)
endif()
