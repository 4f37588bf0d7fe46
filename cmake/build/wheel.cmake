# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
wheel
-----
The targets as a Python wheel contains them (``FATLINK_WHEEL``).

A wheel holds no symbolic links, and would contain the shared library three times: only the file that is named as the
soname is installed, and ``libfatlink.so`` is a linker script, so that ``-lfatlink`` works. The CMake package names that
file itself. There is no static library: it would need the libraries that the wheel bundles as development files.

The binaries must run with an older C library than that of the build machine: functions whose symbols have a newer
version here are replaced (host/wheel/older_symbols.cpp), and libgcc, whose static form needs glibc 2.35, is shared.
#]=======================================================================]
get_target_property(wheel_soversion fatlink_shared SOVERSION)
set_target_properties(fatlink_shared PROPERTIES VERSION "${wheel_soversion}")
install(TARGETS fatlink_shared fatlink_program EXPORT fatlinkTargets
  RUNTIME COMPONENT runtime
  LIBRARY COMPONENT runtime NAMELINK_SKIP)
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/install_side/libfatlink.so" CONTENT
  "/* GNU ld script */\nINPUT(libfatlink.so.@wheel_soversion@)\n" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/install_side/libfatlink.so" TYPE LIB COMPONENT development)

add_library(fatlink_older_symbols OBJECT "${PROJECT_SOURCE_DIR}/host/wheel/older_symbols.cpp")
set_target_properties(fatlink_older_symbols PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden)
target_compile_features(fatlink_older_symbols PRIVATE cxx_std_20)
fatlink_warnings(fatlink_older_symbols)
fatlink_harden(fatlink_older_symbols)
foreach(target IN ITEMS fatlink_shared fatlink_program fatlink_linkd)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:fatlink_older_symbols>)
  foreach(function IN ITEMS hypot arc4random _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE)
    target_link_options(${target} PRIVATE "LINKER:--wrap=${function}")
  endforeach()
endforeach()
