// SPDX-License-Identifier: Apache-2.0
// Compiles sources one after the other with one helper, then at once with two, by turns; without
// the cache. The helpers are started anew for each, within the time.
//   compile_bench [COMPILES [ROUNDS]]      default: 40 compiles, 5 rounds
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "fatlink/compiler.hpp"

using namespace fatlink;

namespace {

source numbered_source(int number)
{
  return source::from_text(
      fmt::format("extern \"C\" __device__ float user_transform(float x) {{ return {}.0F * x; }}\n",
                  number),
      fmt::format("source_{}.cu", number));
}

compiled_source compile_one(compiler tool, int number)
{
  return tool.compile(numbered_source(number),
                      {.contract = "apply_transform", .architectures = {"sm_75"}});
}

/// Milliseconds that `count` compiles take in `helpers` threads, each of which leases a helper.
double measure_ms(int count, unsigned helpers)
{
  auto const start = std::chrono::steady_clock::now();
  compiler shared;
  std::atomic<int> next = 0;
  auto const compile = [&] {
    for (auto number = next++; number < count; number = next++) (void)compile_one(shared, number);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < helpers; ++i) threads.emplace_back(compile);
  for (auto& thread : threads) thread.join();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

double median(std::vector<double> values)
{
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int count, char** arguments)
try {
  auto const compiles = count > 1 ? std::atoi(arguments[1]) : 40;
  auto const rounds = count > 2 ? std::atoi(arguments[2]) : 5;
  ::setenv("FATLINK_PATH", FATLINK_DATA_DIR, 1);
  (void)compile_one(compiler(), 0);  // throws here where there is no NVRTC
  std::vector<double> one;
  std::vector<double> two;
  std::vector<double> ratios;
  for (int round = 0; round < rounds; ++round) {
    one.push_back(measure_ms(compiles, 1));
    two.push_back(measure_ms(compiles, 2));
    ratios.push_back(one.back() / two.back());
  }
  fmt::print(
      "| {} compiles, {} rounds | one helper, ms | two helpers, ms | times faster | best round |\n"
      "|---|---:|---:|---:|---:|\n| medians | {:.0f} | {:.0f} | {:.2f} | {:.2f} |\n",
      compiles, rounds, median(one), median(two), median(ratios),
      *std::max_element(ratios.begin(), ratios.end()));
  return 0;
} catch (std::exception const& failure) {
  fmt::print(stderr, "compile_bench: {}\n", failure.what());
  return 1;
}
