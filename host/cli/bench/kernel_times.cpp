// SPDX-License-Identifier: Apache-2.0
#include "bench/kernel_times.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "bench/bench_images.hpp"
#include "bench/variants.hpp"
#include "installed.hpp"
#include "verification/execute.hpp"

namespace fatlink::cli {
namespace {

using elementwise = kernel<void(float const*, float*, std::size_t)>;

constexpr double k_bytes_per_element = 2 * sizeof(float);  // read and written

/// A kernel under the name of its variant.
struct named_kernel {
  std::string variant;
  elementwise code;
  run_kernel kernel;
};

named_kernel load_kernel(device const& gpu, bench_image const& linked, run_kernel kernel)
{
  auto code = gpu.load(linked.image).kernel<void(float const*, float*, std::size_t)>(kernel.name);
  return {linked.variant, std::move(code), std::move(kernel)};
}

std::vector<named_kernel> load_kernels(device const& gpu, bench_job const& job)
{
  std::vector<named_kernel> kernels;
  for (auto const& linked : link_variants(gpu, job))
    kernels.push_back(load_kernel(gpu, linked, job.kernel));
  if (job.single_source() && job.files[1].stem() == k_default_transform) {
    auto pointer = job.kernel;
    pointer.name = "apply_transform_pointer";
    kernels.push_back(load_kernel(gpu, link_complete(gpu, bench_fatbin(), "function pointer"),
                                  std::move(pointer)));
  }
  return kernels;
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

nlohmann::json time_kernels(device const& gpu, std::vector<named_kernel> const& kernels,
                            std::size_t count, unsigned rounds)
{
  auto const input = gpu.allocate<float>(count);
  auto const output = gpu.allocate<float>(count);
  fill_with_elements(input, count);
  std::vector<variant> variants;
  variants.push_back({k_copy, [&](auto const& stream) { gpu.copy(output, input, count, stream); }});
  for (auto const& named : kernels)
    variants.push_back({named.variant, [&, count](auto const& stream) {
                          named.code.launch(stream, shape_of(named.kernel, count), input.data(),
                                            output.data(), count);
                        }});
  return time_variants(
      gpu, variants, {.elements = count, .bytes = k_bytes_per_element * static_cast<double>(count)},
      rounds);
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
  auto const kernels = load_kernels(gpu, job);
  auto rows = nlohmann::json::array();
  for (auto const count : elements)
    for (auto& row : time_kernels(gpu, kernels, count, job.rounds)) rows.push_back(std::move(row));
  return rows;
}

}  // namespace fatlink::cli
