# SPDX-License-Identifier: Apache-2.0
# The component mpi of find_package(fatlink): the target fatlink::mpi, the MPI that fatlink/mpi.hpp needs. Included by
# fatlinkConfig.cmake. Reads _fatlink_languages; sets fatlink_mpi_FOUND, or fatlink_NOT_FOUND_MESSAGE.
if(_fatlink_languages MATCHES "CXX")
  set(_fatlink_mpi_language CXX)
else()
  set(_fatlink_mpi_language C)
endif()
if(NOT TARGET MPI::MPI_${_fatlink_mpi_language})
  find_package(MPI 3.0 QUIET COMPONENTS ${_fatlink_mpi_language})
endif()
set(fatlink_mpi_FOUND FALSE)
if(TARGET MPI::MPI_${_fatlink_mpi_language})
  set(fatlink_mpi_FOUND TRUE)
  if(NOT TARGET fatlink::mpi)
    add_library(fatlink::mpi INTERFACE IMPORTED)
    target_link_libraries(fatlink::mpi INTERFACE MPI::MPI_${_fatlink_mpi_language})
  endif()
else()
  string(CONCAT fatlink_NOT_FOUND_MESSAGE "the component mpi needs MPI 3.0 for ${_fatlink_mpi_language}, which was not found; "
    "install it (Debian, Ubuntu: libopenmpi-dev), or name its compiler in MPI_${_fatlink_mpi_language}_COMPILER")
endif()
unset(_fatlink_mpi_language)
