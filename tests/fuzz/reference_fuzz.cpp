// SPDX-License-Identifier: Apache-2.0
// Any bytes as the .json beside a fatbin: its digest and its reference of either form, evaluated.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "fatbin/sidecar.hpp"
#include "fatlink/reference.hpp"
#include "verification/transform_reference.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  using namespace fatlink;
  static int const file = ::memfd_create("fuzz", 0);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size))
    return 0;
  auto const path = "/proc/self/fd/" + std::to_string(file);
  try {
    // Evaluates every expression once.
    if (transform_reference::read(path).states_hooks) return 0;
    auto const read = reference::read(path);
    std::array const inputs{0.0F, -1.0F, 1e30F};
    std::array<double, 3> expected{};
    read.evaluator()(inputs, expected);
  } catch (error const&) {
  }
  return 0;
}
