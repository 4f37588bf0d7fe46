// SPDX-License-Identifier: Apache-2.0
// Any bytes as a .npy file.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "verification/npy.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  using namespace fatlink;
  static int const file = ::memfd_create("fuzz", 0);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size))
    return 0;
  try {
    npy_reader const reader("/proc/self/fd/" + std::to_string(file));
    std::array<float, 4> values{};
    reader.read(0, std::span(values).first(std::min<std::size_t>(reader.size(), 4)));
  } catch (error const&) {
  }
  return 0;
}
