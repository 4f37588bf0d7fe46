# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
aarch64.toolchain
-----------------
Compiles for Linux on AArch64 with Debian's cross compiler, on another Linux machine. ``scripts/bootstrap --arch aarch64``
installs the compiler and qemu, and makes the *sysroot*: a folder with the headers and libraries of Debian for arm64, with
Python and with NVIDIA's nvJitLink, NVRTC and libNVVM for AArch64.

The sysroot is ``.aarch64/sysroot`` in the project. The preset copies device code from ``build/default``, where the target
``device_code`` must be built first (``FATLINK_NATIVE_BUILD``, fatlink_add_fatbin).
#]=======================================================================]
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(CMAKE_SYSROOT ../../.aarch64/sysroot)
cmake_path(ABSOLUTE_PATH CMAKE_SYSROOT BASE_DIRECTORY "${CMAKE_CURRENT_LIST_DIR}" NORMALIZE)
if(NOT EXISTS "${CMAKE_SYSROOT}/usr/include/stdlib.h")
  message(FATAL_ERROR "fatlink: ${CMAKE_SYSROOT} was not found. Run scripts/bootstrap --arch aarch64.")
endif()

# Programs are of this machine. The CUDA Toolkit is as well: its headers are the same for both, and nothing of it is linked.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind IN ITEMS LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} BOTH)
endforeach()
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${CMAKE_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig")

# Runs the programs of the build, and every program that these start.
set(CMAKE_CROSSCOMPILING_EMULATOR "${CMAKE_CURRENT_LIST_DIR}/run_aarch64")
