# SPDX-License-Identifier: Apache-2.0
# The toolkit of the tests, <tests>/nvcc: an nvcc that keeps what it compiles (fixtures/nvcc_cache.cpp), and links to all
# else in the real toolkit.
file(REAL_PATH "${CUDAToolkit_BIN_DIR}/.." real_toolkit)
set(toolkit "${FATLINK_TESTS_DIR}/nvcc")
file(MAKE_DIRECTORY "${toolkit}/bin")
file(CREATE_LINK "${real_toolkit}" "${toolkit}/toolkit" SYMBOLIC)
foreach(folder IN ITEMS "" bin/)
  file(GLOB files RELATIVE "${real_toolkit}" "${real_toolkit}/${folder}*")
  list(REMOVE_ITEM files bin bin/nvcc)
  foreach(file IN LISTS files)
    file(CREATE_LINK "${real_toolkit}/${file}" "${toolkit}/${file}" SYMBOLIC)
  endforeach()
endforeach()
add_executable(nvcc_cache fixtures/nvcc_cache.cpp)
set_target_properties(nvcc_cache PROPERTIES OUTPUT_NAME nvcc RUNTIME_OUTPUT_DIRECTORY "${toolkit}/bin")
target_compile_features(nvcc_cache PRIVATE cxx_std_20)
target_link_libraries(nvcc_cache PRIVATE PkgConfig::nettle)
fatlink_warnings(nvcc_cache)
