# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
operator_links
--------------
``FATLINK_OPERATOR_LINKS``, on for the Python wheel: the cache layer with the links of the operators that Python names
("add", "max", ...), of the common types and for the GPUs of CUDA 13 (link_operators.py has the list), built in
``share/fatlink/cache`` and installed there. It is made with the nvJitLink and the NVRTC of nvcc's toolkit, on all cores;
the same inputs give the same bytes.
#]=======================================================================]
option(FATLINK_OPERATOR_LINKS "Ship the links of the operators that Python names, which takes minutes to build" ${FATLINK_WHEEL})
if(NOT FATLINK_OPERATOR_LINKS)
  return()
endif()
if(NOT Python3_EXECUTABLE)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()
fatlink_toolkit_root("FATLINK_OPERATOR_LINKS" toolkit)
set(environment "")
foreach(library IN ITEMS nvJitLink nvrtc)
  find_library(FATLINK_OPERATOR_LINKS_${library} NAMES lib${library}.so.13 PATHS "${toolkit}/lib64" "${toolkit}/lib"
    "${toolkit}/targets/x86_64-linux/lib" NO_DEFAULT_PATH)
  mark_as_advanced(FATLINK_OPERATOR_LINKS_${library})
  if(NOT FATLINK_OPERATOR_LINKS_${library})
    message(FATAL_ERROR "FATLINK_OPERATOR_LINKS: no lib${library}.so.13 in ${toolkit}; install it, or set "
      "FATLINK_OPERATOR_LINKS=OFF")
  endif()
  string(TOUPPER "${library}" variable)
  list(APPEND environment "FATLINK_${variable}=${FATLINK_OPERATOR_LINKS_${library}}")
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
add_custom_command(OUTPUT "${PROJECT_BINARY_DIR}/operator_links.stamp"
  COMMAND "${CMAKE_COMMAND}" -E env ${environment} "${Python3_EXECUTABLE}" -B "${script}"
    --package "${PROJECT_SOURCE_DIR}/host/python/fatlink" --build "${PROJECT_BINARY_DIR}" --layer "${layer}"
  COMMAND "${CMAKE_COMMAND}" -E touch "${PROJECT_BINARY_DIR}/operator_links.stamp"
  DEPENDS "${script}" ${package} ${fatbins} fatlink_program fatlink_shared fatlink_linkd
  COMMENT "Linking the operators that Python names"
  USES_TERMINAL VERBATIM)
add_custom_target(operator_links ALL DEPENDS "${PROJECT_BINARY_DIR}/operator_links.stamp")
if(FATLINK_INSTALL)
  install(DIRECTORY "${layer}/" DESTINATION "${CMAKE_INSTALL_DATADIR}/fatlink/cache" COMPONENT transforms)
endif()
