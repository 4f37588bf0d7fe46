// SPDX-License-Identifier: Apache-2.0
// Any bytes as a cubin: its interface and resources are read, or an error names the file.
#include <cstdint>
#include <cstdlib>

#include "cubin/cubin.hpp"
#include "fatlink/resources.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  using namespace fatlink;
  bytes_view const bytes(reinterpret_cast<std::byte const*>(data), size);
  try {
    auto const cubin = detail::read_cubin(bytes, "f.cubin");
    if (resources(bytes, "f.cubin").size() != cubin.interface.kernels.size()) std::abort();
  } catch (format_error const& failed) {
    if (failed.details().input != "f.cubin") std::abort();
  }
  return 0;
}
