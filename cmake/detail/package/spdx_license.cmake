# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_spdx_license
--------------------
Gives the SPDX expression of the licence of a dependency of fatlink.

  fatlink_spdx_license(<name or soname> <out-var>)

``NOASSERTION`` for an unknown dependency.
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_spdx_license name out)
  if(ARGN)
    message(FATAL_ERROR "fatlink_spdx_license(${name}): unknown argument: ${ARGN}")
  endif()
  set(license NOASSERTION)
  if(name MATCHES "^(zstd|libzstd\\.so.*|CLI11|googletest)$")
    set(license BSD-3-Clause)
  elseif(name MATCHES "^(lz4|liblz4\\.so.*)$")
    set(license BSD-2-Clause)
  elseif(name MATCHES "^(nettle|libnettle\\.so.*)$")
    set(license "LGPL-3.0-or-later OR GPL-2.0-or-later")
  elseif(name MATCHES "^(fmt|nlohmann-json)$")
    set(license MIT)
  elseif(name MATCHES "^(libstdc\\+\\+|libgcc)$")
    set(license "GPL-3.0-or-later WITH GCC-exception-3.1")
  elseif(name STREQUAL "glibc")
    set(license LGPL-2.1-or-later)
  elseif(name MATCHES "^(CUDA Toolkit|nvJitLink)$")
    set(license LicenseRef-NVIDIA-CUDA-EULA)
  endif()
  set(${out} "${license}" PARENT_SCOPE)
endfunction()
