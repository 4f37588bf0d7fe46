// SPDX-License-Identifier: Apache-2.0
// The shipped libraries of algorithms beside CUB, compiled by nvcc as one program with the same
// operators: LTO links, PTX links and the copy rate, in one run, by the same clock. Prints a table
// in Markdown, and verifies that the results are those of CUB.
//   algorithm_bench DATA_FOLDER [--check] [--rounds N] [--only NAME] [ELEMENTS...]
// DATA_FOLDER holds the libraries and transforms: share/fatlink. --check binds every plan on the
// reference device instead, without times: it needs no GPU.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "bench_cases.hpp"
#include "fatlink/nvjitlink.hpp"
#include "measured_case.hpp"

using namespace algorithm_bench;

namespace {

struct program_options {
  std::string data;
  bool only_check = false;
  int rounds = 30;
  std::string only;
  std::vector<std::size_t> elements;
};

program_options read_options(int count, char** words)
{
  program_options options;
  for (int i = 1; i < count; ++i) {
    std::string_view const word(words[i]);
    if (word == "--check")
      options.only_check = true;
    else if (word == "--rounds" && i + 1 < count)
      options.rounds = std::atoi(words[++i]);
    else if (word == "--only" && i + 1 < count)
      options.only = words[++i];
    else if (options.data.empty())
      options.data = word;
    else
      options.elements.push_back(std::strtoull(words[i], nullptr, 10));
  }
  if (options.elements.empty()) options.elements = {std::size_t{1} << 20, std::size_t{1} << 28};
  return options;
}

void print_head(program_options const& options)
{
  auto const linker = fatlink::nvjitlink::open();
  std::printf("%s, nvJitLink %u.%u; medians of %d rounds of CUDA graphs, by turns\n\n",
              cub_calls::describe_machine(), linker->major(), linker->minor(), options.rounds);
  std::printf(
      "| algorithm | element | elements | CUB µs | LTO µs | PTX µs | LTO GB/s | LTO, of CUB | PTX, "
      "of CUB | LTO, of copy | result |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n");
}

void print_row(bench_case const& tested, std::size_t elements, case_times const& times)
{
  auto const rate = times.bytes / times.lto_us / 1e3;
  auto const result = times.differences == 0 ? std::string("equal")
                                             : std::to_string(times.differences) + " words differ";
  std::printf("| %s | %s | %zu | %.2f | %.2f | %.2f | %.0f | %.3f | %.3f | %.3f | %s |\n",
              tested.name.c_str(),
              tested.type == cub_calls::element::float32 ? "float" : "8-byte struct", elements,
              times.cub_us, times.lto_us, times.ptx_us, rate, times.cub_us / times.lto_us,
              times.cub_us / times.ptx_us, times.copy_us / times.lto_us, result.c_str());
  std::fflush(stdout);
}

/// Whether it could be measured, with the results of CUB.
bool measure_one(bench_case const& tested, std::size_t elements, program_options const& options)
try {
  if (options.only_check) {
    check_case(tested, options.data);
    std::printf("%s (%s): runs\n", tested.name.c_str(), tested.library.c_str());
    return true;
  }
  auto const times = measure_case(tested, elements, options.data, options.rounds);
  print_row(tested, elements, times);
  return times.differences == 0;
} catch (fatlink::error const& failure) {
  std::fprintf(stderr, "%s (%s): %s\n", tested.name.c_str(), tested.library.c_str(),
               failure.what());
  return false;
}

int run(program_options const& options)
{
  if (!options.only_check) print_head(options);
  auto is_right = true;
  for (auto const& tested : bench_cases())
    for (auto const elements : options.elements) {
      if (!options.only.empty() && !tested.name.starts_with(options.only)) continue;
      is_right = measure_one(tested, elements, options) && is_right;
      if (options.only_check) break;
    }
  return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int count, char** words)
try {
  auto const options = read_options(count, words);
  if (options.data.empty()) {
    std::fprintf(stderr, "name the folder of the libraries: share/fatlink\n");
    return EXIT_FAILURE;
  }
  return run(options);
} catch (fatlink::error const& failure) {
  std::fprintf(stderr, "%s\n%s\n", failure.what(), failure.details().hint.c_str());
  return EXIT_FAILURE;
}
