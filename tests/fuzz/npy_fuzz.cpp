// SPDX-License-Identifier: Apache-2.0
// Any bytes as a .npy file; its last element, and the header that would be written for it.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "util/files/npy.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  using namespace fatlink;
  static int const file = ::memfd_create("fuzz", 0);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size))
    return 0;
  try {
    npy_reader const reader("/proc/self/fd/" + std::to_string(file));
    std::vector<std::byte> element(reader.type().size);
    reader.read(reader.size() - 1, element);
    if (detail::npy_header_text(reader.type(), reader.extents()).empty()) __builtin_trap();
  } catch (error const&) {
  }
  return 0;
}
