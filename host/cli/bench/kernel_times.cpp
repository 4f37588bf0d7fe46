// SPDX-License-Identifier: Apache-2.0
#include "bench/kernel_times.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include "bench/median.hpp"
#include "fatlink/linker.hpp"
#include "installed.hpp"
#include "verification/execute.hpp"

namespace fatlink::cli {
namespace {

using elementwise = kernel<void(float const*, float*, std::size_t)>;

constexpr char const* k_copy = "device-to-device copy";
constexpr char const* k_single_source = "single source";
constexpr unsigned k_vector = 4;  // floats in the float4 of elementwise.cuh
constexpr double k_bytes_per_element = 2 * sizeof(float);  // read and written

/// Work that is timed: called once in each round on a stream.
struct variant {
  std::string name;
  std::function<void(stream const&, device_buffer<float> const&, device_buffer<float> const&,
                     std::size_t)>
      launch;
  std::vector<double> ms = {};
};

variant launch_variant(std::string name, elementwise const& code, run_kernel const& kernel)
{
  return {std::move(name), [code, kernel](auto const& stream, auto const& input, auto const& output,
                                          std::size_t count) {
            code.launch(stream, shape_of(kernel, count), input.data(), output.data(), count);
          }};
}

elementwise load_kernel(device const& gpu, linked_image const& image, std::string const& name)
{
  return gpu.load(image).kernel<void(float const*, float*, std::size_t)>(name);
}

char const* title_of(link_mode mode)
{
  switch (mode) {
    case link_mode::lto:
      return "LTO link";
    case link_mode::sass:
      return "SASS link";
    case link_mode::ptx:
      break;
  }
  return "PTX link";
}

variant linked_variant(device const& gpu, bench_job const& job, link_mode mode)
{
  auto const image = job.flags.linker().link(job.inputs, job.make_options(gpu.info().target, mode));
  return launch_variant(title_of(mode), load_kernel(gpu, image, job.kernel.name), job.kernel);
}

/// apply_transform with relu_poly in bench.fatbin: compiled as one source, and with a call through
/// a function pointer.
void add_single_source(std::vector<variant>& variants, device const& gpu)
{
  std::vector<input> const single{input::read(bench_fatbin())};
  auto const image = linker().link(single, gpu.link_options(link_mode::ptx));
  auto const add = [&](char const* title, char const* name) {
    variants.push_back(launch_variant(title, load_kernel(gpu, image, name),
                                      {.name = name, .elements_per_thread = k_vector}));
  };
  add(k_single_source, "apply_transform_single");
  add("function pointer", "apply_transform_pointer");
}

/// The rows of the inputs are linked with the options of the bench; those that they are compared
/// with are always linked without options.
std::vector<variant> load_variants(device const& gpu, bench_job const& job)
{
  std::vector<variant> variants;
  variants.push_back(
      {k_copy, [&gpu](auto const& stream, auto const& input, auto const& output,
                      std::size_t count) { gpu.copy(output, input, count, stream); }});
  for (auto const mode : job.modes) variants.push_back(linked_variant(gpu, job, mode));
  if (job.has_single_source()) add_single_source(variants, gpu);
  return variants;
}

void fill_with_elements(device_buffer<float> buffer, std::size_t count)
{
  std::vector<float> chunk(std::min<std::size_t>(count, std::size_t{4} << 20));
  auto const source = generated_elements(count, 0);
  for (std::size_t offset = 0; offset < count; offset += chunk.size()) {
    auto const part = std::span(chunk).first(std::min(chunk.size(), count - offset));
    source->fill(offset, part);
    buffer.write(part, offset);
  }
}

/// Short launches are timed in batches, so that the cost of an event stays small.
void time_variants(device const& gpu, std::vector<variant>& variants, std::size_t count,
                   unsigned rounds)
{
  auto const input = gpu.allocate<float>(count);
  auto const output = gpu.allocate<float>(count);
  fill_with_elements(input, count);
  auto const batch = std::clamp<std::size_t>((std::size_t{1} << 24) / count, 1, 20);
  auto const stream = gpu.create_stream();
  auto start = gpu.create_event();
  auto stop = gpu.create_event();
  for (unsigned round = 0; round <= rounds; ++round)
    for (auto& variant : variants) {
      start.record(stream);
      for (std::size_t i = 0; i < batch; ++i) variant.launch(stream, input, output, count);
      stop.record(stream);
      auto const ms = stop.ms_since(start) / static_cast<double>(batch);
      if (round > 0) variant.ms.push_back(ms);  // the first round warms up
    }
}

/// The median time of a variant in milliseconds; 0 if it was not measured.
double median_of(std::vector<variant> const& variants, char const* name)
{
  for (auto const& variant : variants)
    if (variant.name == name) return median(variant.ms);
  return 0;
}

nlohmann::json to_rows(std::vector<variant> const& variants, std::size_t count)
{
  auto const copy_ms = median_of(variants, k_copy);
  auto const single_ms = median_of(variants, k_single_source);
  auto rows = nlohmann::json::array();
  for (auto const& variant : variants) {
    auto const ms = median(variant.ms);
    rows.push_back({{"variant", variant.name},
                    {"elements", count},
                    {"us", ms * 1e3},
                    {"gb_per_s", static_cast<double>(count) * k_bytes_per_element / ms / 1e6},
                    {"rate_over_copy", copy_ms / ms},
                    {"time_over_single_source",
                     single_ms > 0 ? nlohmann::json(ms / single_ms) : nlohmann::json()}});
  }
  return rows;
}

}  // namespace

launch_shape shape_of(run_kernel const& kernel, std::size_t count)
{
  auto const width = kernel.elements_per_thread;
  return elementwise_shape(count / width + (count % width != 0 ? 1 : 0), kernel.block);
}

nlohmann::json measure_kernels(device const& gpu, bench_job const& job,
                               std::vector<std::size_t> const& elements)
{
  auto variants = load_variants(gpu, job);
  auto rows = nlohmann::json::array();
  for (auto const count : elements) {
    time_variants(gpu, variants, count, job.rounds);
    for (auto& row : to_rows(variants, count)) rows.push_back(row);
    for (auto& variant : variants) variant.ms.clear();
  }
  return rows;
}

}  // namespace fatlink::cli
