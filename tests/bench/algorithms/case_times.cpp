// SPDX-License-Identifier: Apache-2.0
#include "case_times.hpp"

#include <array>
#include <cstdio>

namespace algorithm_bench {
namespace {

char const* name_of(cub_calls::element type)
{
  switch (type) {
    case cub_calls::element::uint8:
      return "uint8";
    case cub_calls::element::int32:
      return "int32";
    case cub_calls::element::float32:
      return "float";
    case cub_calls::element::pair:
      return "8-byte struct";
    case cub_calls::element::matrix:
      return "16-byte struct";
  }
  return "";
}

}  // namespace

std::string table_head()
{
  return "| algorithm | element | elements | CUB µs | LTO µs | PTX µs | LTO GB/s | LTO, of CUB | "
         "PTX, of CUB | LTO, of copy | result |\n"
         "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n";
}

std::string table_row(bench_case const& tested, std::size_t elements, case_times const& times)
{
  auto const result = times.differences == 0 ? std::string("equal")
                                             : std::to_string(times.differences) + " words differ";
  std::array<char, 256> numbers{};
  std::snprintf(
      numbers.data(), numbers.size(), "%zu | %.2f | %.2f | %.2f | %.0f | %.3f | %.3f | %.3f",
      elements, times.cub_us, times.lto_us, times.ptx_us, times.bytes / times.lto_us / 1e3,
      times.cub_us / times.lto_us, times.cub_us / times.ptx_us, times.copy_us / times.lto_us);
  return "| " + tested.name + " | " + name_of(tested.type) + " | " + numbers.data() + " | " +
         result + " |\n";
}

}  // namespace algorithm_bench
