// SPDX-License-Identifier: Apache-2.0
// Any bytes as the .json beside a fatbin: its digest and its reference of either form.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "fatbin/sidecar.hpp"
#include "verification/transform_reference.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  using namespace fatlink;
  static int const file = ::memfd_create("fuzz", 0);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size))
    return 0;
  auto const path = "/proc/self/fd/" + std::to_string(file);
  try {
    (void)transform_reference::read(path);
  } catch (error const&) {
  }
  return 0;
}
