// SPDX-License-Identifier: Apache-2.0
// The shipped libraries of algorithms beside CUB, compiled by nvcc as one program with the same
// operators: LTO links, PTX links and the copy rate, in one run, by the same clock. Prints a table
// in Markdown, and verifies that the results are those of CUB.
//   algorithm_bench DATA_FOLDER [--check] [--rounds N] [--only NAME] [ELEMENTS...]
// DATA_FOLDER holds the libraries and transforms: share/fatlink. --check binds every plan on the
// reference device instead, without times: it needs no GPU.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench_cases.hpp"
#include "bench_options.hpp"
#include "case_times.hpp"
#include "fatlink/nvjitlink.hpp"
#include "measured_case.hpp"

using namespace algorithm_bench;

namespace {

constexpr int k_usage = 2;  // the exit status

void print_head(bench_options const& options)
{
  auto const linker = fatlink::nvjitlink::open();
  std::printf(
      "%s, nvJitLink %u.%u; medians of %d rounds of CUDA graphs, by turns; segmented_sort "
      "without graphs, because CUB's waits for the GPU\n\n%s",
      cub_calls::describe_machine(), linker->major(), linker->minor(), options.rounds,
      table_head().c_str());
}

/// Whether it could be measured, with the results of CUB.
bool measure_one(bench_case const& tested, std::size_t elements, bench_options const& options)
try {
  if (options.only_check) {
    check_case(tested, options.data);
    std::printf("%s (%s): runs\n", tested.name.c_str(), tested.library.c_str());
    return true;
  }
  auto const times = measure_case(tested, elements, options.data, options.rounds);
  std::fputs(table_row(tested, elements, times).c_str(), stdout);
  std::fflush(stdout);
  return times.differences == 0;
} catch (fatlink::error const& failure) {
  std::fprintf(stderr, "%s (%s): %s\n", tested.name.c_str(), tested.library.c_str(),
               failure.what());
  return false;
}

int run(bench_options const& options)
{
  if (!options.only_check) print_head(options);
  auto is_right = true;
  for (auto const& tested : bench_cases())
    for (auto const elements : options.elements) {
      if (!options.only.empty() && !tested.name.starts_with(options.only)) continue;
      if (!options.only_check && elements < tested.least_elements) continue;
      is_right = measure_one(tested, elements, options) && is_right;
      if (options.only_check) break;
    }
  return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int count, char** words)
try {
  return run(read_options(std::vector<std::string>(words + 1, words + count)));
} catch (std::invalid_argument const& failure) {
  std::fprintf(stderr, "algorithm_bench: %s\n", failure.what());
  return k_usage;
} catch (fatlink::error const& failure) {
  std::fprintf(stderr, "%s\n%s\n", failure.what(), failure.details().hint.c_str());
  return EXIT_FAILURE;
}
