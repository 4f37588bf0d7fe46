// SPDX-License-Identifier: Apache-2.0
#include "bench/reference_device_rate.hpp"

#include "bench/kernel_times.hpp"
#include "bench/median.hpp"
#include "fatlink/linker.hpp"
#include "installed.hpp"
#include "verification/execute.hpp"

namespace fatlink::cli {
namespace {

constexpr std::size_t k_count = std::size_t{1} << 20;

/// Instructions per second of each round; the first, which warms up, is left out.
std::vector<double> measure_rates(device& cpu,
                                  kernel<void(float const*, float*, std::size_t)> const& code,
                                  unsigned rounds)
{
  std::vector<float> values(k_count);
  generated_elements(k_count, 0)->fill(0, values);
  auto input = cpu.allocate<float>(k_count);
  auto output = cpu.allocate<float>(k_count);
  input.write(values);
  auto const stream = cpu.create_stream();
  std::vector<double> rates;
  for (unsigned round = 0; round <= rounds; ++round) {
    auto start = cpu.create_event();
    auto stop = cpu.create_event();
    auto const instructions_before = cpu.instructions();
    start.record(stream);
    code.launch(stream, vector_shape(k_count), input.data(), output.data(), k_count);
    stop.record(stream);
    auto const executed = static_cast<double>(cpu.instructions() - instructions_before);
    if (round > 0) rates.push_back(executed / stop.ms_since(start) * 1e3);
  }
  return rates;
}

}  // namespace

nlohmann::json measure_reference_device(std::vector<fatbin> const& pair, unsigned rounds)
{
  auto const cpu = open_device("cpu");
  auto const image = linker().link(pair, cpu->link_options(link_mode::lto));
  auto const code =
      cpu->load(image).kernel<void(float const*, float*, std::size_t)>(k_default_kernel);
  auto const cores = cpu->info().multiprocessors;
  auto const rate = median(measure_rates(*cpu, code, rounds)) / cores;
  auto const instructions_per_element =
      static_cast<double>(cpu->instructions()) / (static_cast<double>(k_count) * (rounds + 1));
  return {{"elements", k_count},
          {"cores", cores},
          {"instructions_per_s_and_core", rate},
          {"elements_per_s_and_core", rate / instructions_per_element}};
}

}  // namespace fatlink::cli
