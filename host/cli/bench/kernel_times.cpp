// SPDX-License-Identifier: Apache-2.0
#include "bench/kernel_times.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include "bench/median.hpp"
#include "error_report.hpp"
#include "fatlink/linker.hpp"
#include "installed.hpp"
#include "verification/execute.hpp"

namespace fatlink::cli {
namespace {

using elementwise = kernel<void(float const*, float*, std::size_t)>;

constexpr char const* k_copy = "device-to-device copy";
constexpr char const* k_single_source = "single source";
constexpr double k_bytes_per_element = 2 * sizeof(float);  // read and written

/// Work that is timed: called once in each round on a stream.
struct variant {
  std::string name;
  std::function<void(stream const&, device_buffer<float> const&, device_buffer<float> const&,
                     std::size_t)>
      launch;
  std::vector<double> ms = {};
};

variant launch_variant(std::string name, elementwise const& code)
{
  return {std::move(name),
          [code](auto const& stream, auto const& input, auto const& output, std::size_t count) {
            code.launch(stream, vector_shape(count), input.data(), output.data(), count);
          }};
}

elementwise load_kernel(device const& gpu, std::vector<fatbin> const& inputs,
                        link_options const& options, char const* name)
{
  auto const image = linker().link(inputs, options);
  if (inputs.size() > 1 && options.mode == link_mode::lto && !image.inlined())
    print_warnings({"the lto link did not inline the transform"});
  return gpu.load(image).kernel<void(float const*, float*, std::size_t)>(name);
}

/// The rows of the pair are linked with the options of the bench; those that they are compared with
/// are always linked without options.
std::vector<variant> load_variants(device const& gpu, std::vector<fatbin> const& pair,
                                   kernel_time_settings const& settings)
{
  std::vector<variant> variants;
  variants.push_back(
      {k_copy, [&gpu](auto const& stream, auto const& input, auto const& output,
                      std::size_t count) { gpu.copy(output, input, count, stream); }});
  for (auto const& options : settings.links)
    variants.push_back(launch_variant(options.mode == link_mode::ptx ? "PTX link" : "LTO link",
                                      load_kernel(gpu, pair, options, k_default_kernel)));
  if (!settings.has_single_source) return variants;
  std::vector<fatbin> const single{fatbin::read(bench_fatbin())};
  auto const load_single = [&](char const* name) {
    return load_kernel(gpu, single, gpu.link_options(link_mode::ptx), name);
  };
  variants.push_back(launch_variant(k_single_source, load_single("apply_transform_single")));
  variants.push_back(launch_variant("function pointer", load_single("apply_transform_pointer")));
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

/// elementwise_shape would add threads without work, which would be timed, too.
launch_shape vector_shape(std::size_t count)
{
  constexpr std::size_t k_vector = 4;
  return elementwise_shape((count + k_vector - 1) / k_vector);
}

nlohmann::json measure_kernels(device const& gpu, std::vector<fatbin> const& pair,
                               kernel_time_settings const& settings)
{
  auto variants = load_variants(gpu, pair, settings);
  auto rows = nlohmann::json::array();
  for (auto const count : settings.elements) {
    time_variants(gpu, variants, count, settings.rounds);
    for (auto& row : to_rows(variants, count)) rows.push_back(row);
    for (auto& variant : variants) variant.ms.clear();
  }
  return rows;
}

}  // namespace fatlink::cli
