# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
compiler
--------
How fatlink is compiled: with ccache, with warnings and with hardening options; and not with a compiler that computes wrongly.

  fatlink_warnings(<target>...)
  fatlink_harden(<target>...)

``FATLINK_USE_CCACHE``
  Option, default on. Compiles C and C++ with ccache where it is installed, so that a source that was compiled before, in
  this or another folder of builds, takes a moment. A launcher that is stated (``CMAKE_CXX_COMPILER_LAUNCHER``) is left as
  it is. The option is for fatlink as the top project.
``fatlink_warnings``
  Turns on warnings for fatlink's own targets; they are errors if ``FATLINK_WERROR`` is on, as in the presets.
``fatlink_harden``
  Adds compiler and linker options that make memory errors harder to exploit, for shipped targets. Compiler: stack
  protector, stack clash protection, control-flow protection (x86: CET; AArch64: PAC and BTI), and ``_FORTIFY_SOURCE`` 3, or 2 if compiler or C
  library do not support 3. Linker: RELRO, immediate binding, PIE. If only the C library's start files lack control-flow
  protection, their entry points get landing pads (host/src/util/process/landing_pads.cpp), and the binary is marked as
  protected. Sanitizer builds use none of these options; ``_FORTIFY_SOURCE`` needs an optimized configuration.
``FATLINK_HARDENING``
  Option, default on. If off, the compiler's defaults are used.

Stops the configuration with a compiler that vectorises the reference device's integer arithmetic wrongly, as g++ 12 does
in one form that the reference device therefore does not use (compiler_check.cpp). Not when cross-compiling.
#]=======================================================================]
include_guard(GLOBAL)
include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)

option(FATLINK_WERROR "Treat warnings as errors" OFF)
option(FATLINK_HARDENING "Compile and link with hardening options" ON)

if(PROJECT_IS_TOP_LEVEL)
  option(FATLINK_USE_CCACHE "Compile with ccache, if it is installed" ON)
  mark_as_advanced(FATLINK_USE_CCACHE)
  find_program(FATLINK_CCACHE ccache)
  mark_as_advanced(FATLINK_CCACHE)
  if(FATLINK_USE_CCACHE AND FATLINK_CCACHE)
    foreach(language IN ITEMS C CXX)
      if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
        # The dependencies come from the compiler's own list, so that a first compile does not preprocess twice.
        set(CMAKE_${language}_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_DEPEND=1 CCACHE_NOHASHDIR=1
          "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" "${FATLINK_CCACHE}")
      endif()
    endforeach()
  endif()
endif()

if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  # Formulas and references give the same bits everywhere: x86-64 has no FMA without a target attribute.
  add_compile_options(-ffp-contract=off)
endif()

function(fatlink_warnings)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE
      -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast
      $<$<BOOL:${FATLINK_WERROR}>:-Werror>)
  endforeach()
endfunction()

# The highest level of _FORTIFY_SOURCE that the C library accepts without a warning.
function(_fatlink_fortify_level out)
  set(CMAKE_TRY_COMPILE_CONFIGURATION Release)
  set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
  check_cxx_source_compiles("#include <cstdio>\nint main() {}" FATLINK_HAS_FORTIFY_3)
  set(${out} 2 PARENT_SCOPE)
  if(FATLINK_HAS_FORTIFY_3)
    set(${out} 3 PARENT_SCOPE)
  endif()
endfunction()

function(_fatlink_hardening_options compile_out link_out)
  set(compile "")
  foreach(option IN ITEMS -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard)
    string(MAKE_C_IDENTIFIER "FATLINK_HAS${option}" supported)
    check_cxx_compiler_flag(${option} ${supported})
    if(${supported})
      list(APPEND compile ${option})
    endif()
  endforeach()
  _fatlink_fortify_level(level)
  # The compilers of some distributions already define a level.
  set(optimized "$<CONFIG:Release,RelWithDebInfo,MinSizeRel>")
  list(APPEND compile "$<${optimized}:-U_FORTIFY_SOURCE>" "$<${optimized}:-D_FORTIFY_SOURCE=${level}>")
  set(link "")
  check_linker_flag(CXX "LINKER:-z,relro,-z,now" FATLINK_HAS_RELRO_NOW)
  if(FATLINK_HAS_RELRO_NOW)
    list(APPEND link "LINKER:-z,relro,-z,now")
  endif()
  set(${compile_out} "${compile}" PARENT_SCOPE)
  set(${link_out} "${link}" PARENT_SCOPE)
endfunction()

# Whether only the start files lack control-flow protection, while the C++ runtime has it.
function(_fatlink_needs_landing_pads out)
  set(CMAKE_REQUIRED_FLAGS "-fcf-protection=full")
  set(program "#include <iostream>\nint main() { try { std::cout << 1; throw 1; } catch (int) {} return 0; }")
  set(CMAKE_REQUIRED_LINK_OPTIONS -static-libstdc++ -static-libgcc "LINKER:-z,cet-report=error")
  check_cxx_source_compiles("${program}" FATLINK_START_FILES_HAVE_CET)
  string(APPEND program "\nextern \"C\" __attribute__((visibility(\"hidden\"))) void* __dso_handle;\n"
    "void* __dso_handle = nullptr;")  # otherwise defined by a start file
  list(APPEND CMAKE_REQUIRED_LINK_OPTIONS -nostartfiles "LINKER:-e,main,-z,ibt,-z,shstk")
  check_cxx_source_compiles("${program}" FATLINK_RUN_TIME_HAS_CET)
  set(${out} OFF PARENT_SCOPE)
  if(FATLINK_RUN_TIME_HAS_CET AND NOT FATLINK_START_FILES_HAVE_CET)
    set(${out} ON PARENT_SCOPE)
  endif()
endfunction()

function(_fatlink_add_landing_pads target type)
  target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/host/src/util/process/landing_pads.cpp")
  target_link_options(${target} PRIVATE "LINKER:-init,fatlink_init,-fini,fatlink_fini,-z,ibt,-z,shstk")
  if(type STREQUAL "EXECUTABLE")
    target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/host/src/util/process/start_landing_pad.cpp")
    target_link_options(${target} PRIVATE "LINKER:-e,fatlink_start")
  endif()
endfunction()

function(fatlink_harden)
  if(NOT FATLINK_HARDENING OR "${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize")
    return()
  endif()
  check_pie_supported(LANGUAGES CXX)
  _fatlink_hardening_options(compile link)
  _fatlink_needs_landing_pads(landing_pads)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE ${compile})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "EXECUTABLE|SHARED_LIBRARY")
      target_link_options(${target} PRIVATE ${link})
      set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
      if(landing_pads)
        _fatlink_add_landing_pads(${target} ${type})
      endif()
    endif()
  endforeach()
endfunction()

# try_run stores its results in the cache, where a variable of the same name would hide them.
if(NOT CMAKE_CROSSCOMPILING AND NOT DEFINED FATLINK_HAS_SOUND_COMPILER)
  try_run(FATLINK_COMPILER_CHECK_STATUS FATLINK_COMPILER_CHECK_COMPILES
    "${CMAKE_BINARY_DIR}/compiler_check" "${CMAKE_CURRENT_LIST_DIR}/compiler_check.cpp"
    CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${PROJECT_SOURCE_DIR}/host/src" COMPILE_DEFINITIONS -O3 -DNDEBUG CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON
    COMPILE_OUTPUT_VARIABLE output)
  set(compiles "${FATLINK_COMPILER_CHECK_COMPILES}")
  set(status "${FATLINK_COMPILER_CHECK_STATUS}")
  unset(FATLINK_COMPILER_CHECK_COMPILES CACHE)
  unset(FATLINK_COMPILER_CHECK_STATUS CACHE)
  if(NOT compiles)
    message(FATAL_ERROR "fatlink: ${CMAKE_CXX_COMPILER} does not compile compiler_check.cpp; "
                        "fatlink needs g++ 12 or newer.\n${output}")
  elseif(NOT status EQUAL 0)
    message(FATAL_ERROR
      "fatlink: ${CMAKE_CXX_COMPILER} (${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}) computes integers wrongly where "
      "it vectorises (compiler_check.cpp). Use another compiler, or -DCMAKE_CXX_FLAGS=-fno-tree-vectorize.")
  endif()
  set(FATLINK_HAS_SOUND_COMPILER TRUE CACHE INTERNAL "The compiler vectorises integer arithmetic correctly")
endif()
