# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
sized_library
-------------
Contracts and libraries for elements that are known by their size only: one of each for 1, 2, 4, 8, 16 and 32 bytes.

  fatlink_add_sized_contract(<name> VERSION <n> HEADER <file> [INCLUDES <contract>...])

Declares the contracts ``<name>_1`` to ``<name>_32``, and installs them with the runtime. ``HEADER`` declares the hooks on
``fatlink_element``; the header of ``<name>_4`` is its text after ``#define FATLINK_ELEMENT_BYTES 4``.
In ``INCLUDES``, which is passed to ``fatlink_add_contract``, ``@N@`` stands for the bytes of an element.

  fatlink_add_sized_library(<name> CONTRACT <contract> [SOURCE <file.cu>] [PLAN <file.plan.json.in>]
    [ARCHITECTURES <cc>...] [OPTIONS <option>...])

Builds the fatbins ``<name>_1`` to ``<name>_32`` of one source, each with its contract, which sets
``FATLINK_ELEMENT_BYTES``. In the plan ``@N@`` stands for the bytes of an element, and ``@ALIGNMENT@`` for its alignment.
``SOURCE`` is ``<name>/<name>.cu`` by default, ``PLAN`` ``<name>/<name>.plan.json.in``. ``ARCHITECTURES`` and ``OPTIONS``
are passed to ``fatlink_add_fatbin``: a library whose launches overlap needs ``75 90``.
#]=======================================================================]
include_guard(GLOBAL)

set(FATLINK_ELEMENT_SIZES 1 2 4 8 16 32)

function(fatlink_add_sized_contract name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "VERSION;HEADER" "INCLUDES")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${arg_HEADER}")
  file(READ "${arg_HEADER}" text)
  foreach(N IN LISTS FATLINK_ELEMENT_SIZES)
    set(header "${CMAKE_CURRENT_BINARY_DIR}/sized_contracts/${name}_${N}.cuh")
    file(CONFIGURE OUTPUT "${header}" CONTENT "#define FATLINK_ELEMENT_BYTES ${N}\n@text@" @ONLY)
    set(included "")
    if(arg_INCLUDES)
      string(REPLACE "@N@" "${N}" included "INCLUDES;${arg_INCLUDES}")
    endif()
    fatlink_add_contract(${name}_${N} VERSION ${arg_VERSION} HEADER "${header}" ${included}
      PACKAGE fatlink-runtime PACKAGE_VERSION 0.1.0
      INSTALL_DESTINATION "${CMAKE_INSTALL_DATADIR}/fatlink/contracts" INSTALL_COMPONENT runtime)
  endforeach()
endfunction()

function(fatlink_add_sized_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CONTRACT;SOURCE;PLAN" "ARCHITECTURES;OPTIONS")
  if(NOT arg_SOURCE)
    set(arg_SOURCE "${name}/${name}.cu")
  endif()
  if(NOT arg_PLAN)
    set(arg_PLAN "${name}/${name}.plan.json.in")
  endif()
  set(options "")
  foreach(keyword IN ITEMS ARCHITECTURES OPTIONS)
    if(arg_${keyword})
      list(APPEND options ${keyword} ${arg_${keyword}})
    endif()
  endforeach()
  foreach(N IN LISTS FATLINK_ELEMENT_SIZES)
    set(ALIGNMENT ${N})
    if(N GREATER 16)
      set(ALIGNMENT 16)
    endif()
    set(plan "${CMAKE_CURRENT_BINARY_DIR}/plans/${name}_${N}.plan.json")
    configure_file("${arg_PLAN}" "${plan}" @ONLY)
    fatlink_add_fatbin(${name}_${N}_fatbin OUTPUT_NAME ${name}_${N}
      SOURCES "${arg_SOURCE}"
      CONTRACT ${arg_CONTRACT}_${N} PLAN "${plan}" ${options}
      PACKAGE fatlink-runtime
      INSTALL_DESTINATION "${CMAKE_INSTALL_DATADIR}/fatlink" INSTALL_COMPONENT runtime)
  endforeach()
endfunction()
