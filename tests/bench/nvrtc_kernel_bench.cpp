// SPDX-License-Identifier: Apache-2.0
// Times the kernel of apply_transform with every shipped transform, compiled by NVRTC at run time
// and by nvcc with the build, both linked in lto mode. The two are launched by turns, and medians
// are compared, so that the ratio does not depend on the clock of the GPU. Needs a GPU and NVRTC.
//   nvrtc_kernel_bench [ROUNDS [ELEMENTS [DEVICE]]]      default: 300 rounds, 67108864 elements,
//   gpu
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "fatlink/compiler.hpp"
#include "fatlink/device.hpp"
#include "fatlink/linker.hpp"

using namespace fatlink;

namespace {

namespace fs = std::filesystem;
using elementwise = kernel<void(float const*, float*, std::size_t)>;

constexpr unsigned k_vector = 4;  // floats in the float4 of elementwise.cuh

/// One fatbin of a transform, linked with the library and loaded.
struct variant {
  linked_image image;
  elementwise code;
  std::vector<double> ms = {};
};

struct transform_times {
  std::string name;
  variant nvcc;
  variant nvrtc;
};

/// The sources of apply_transform's transforms whose fatbins are installed, in order.
std::vector<fs::path> shipped_sources()
{
  std::vector<fs::path> sources;
  for (auto const& entry : fs::directory_iterator(FATLINK_KERNELS_DIR "/transforms"))
    if (entry.path().extension() == ".cu") sources.push_back(entry.path());
  std::sort(sources.begin(), sources.end());
  return sources;
}

fs::path shipped_fatbin(std::string const& name)
{
  return fs::path(FATLINK_DATA_DIR) / (name + ".fatbin");
}

variant load(device const& gpu, input const& transform)
{
  std::vector<input> const inputs{input::read(shipped_fatbin("apply_transform")), transform};
  auto image = linker().link(inputs, gpu.link_options(link_mode::lto));
  auto code = gpu.load(image).kernel<void(float const*, float*, std::size_t)>("apply_transform");
  return {.image = std::move(image), .code = std::move(code)};
}

transform_times prepare(device const& gpu, compiler& nvrtc, fs::path const& source_file)
{
  auto const name = source_file.stem().string();
  auto const compiled =
      nvrtc.compile(source::read(source_file),
                    {.contract = "apply_transform", .architectures = {target("sm_75")}});
  return {.name = name,
          .nvcc = load(gpu, input::read(shipped_fatbin(name))),
          .nvrtc = load(gpu, input(compiled.code))};
}

/// From -8 to 8, so that both sides of a branch are taken.
std::vector<float> varied_elements(std::size_t count)
{
  std::vector<float> elements(count);
  for (std::size_t i = 0; i < count; ++i)
    elements[i] = static_cast<float>(i % 4099) / 256.0F - 8.0F;
  return elements;
}

double median(std::vector<double> values)
{
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Times both variants; each round begins with the other one. The first round warms up.
void measure(device const& gpu, transform_times& times, std::size_t count, int rounds)
{
  auto in = gpu.allocate<float>(count);
  auto const out = gpu.allocate<float>(count);
  in.write(varied_elements(count));
  auto const stream = gpu.create_stream();
  auto start = gpu.create_event();
  auto stop = gpu.create_event();
  for (int round = 0; round <= rounds; ++round) {
    std::array order{&times.nvcc, &times.nvrtc};
    if (round % 2 != 0) std::swap(order[0], order[1]);
    for (auto* next : order) {
      start.record(stream);
      next->code.launch(stream, elementwise_shape((count + k_vector - 1) / k_vector), in.data(),
                        out.data(), count);
      stop.record(stream);
      auto const ms = stop.ms_since(start);
      if (round > 0) next->ms.push_back(ms);
    }
  }
}

void print_row(transform_times const& times)
{
  auto const nvcc = median(times.nvcc.ms);
  auto const nvrtc = median(times.nvrtc.ms);
  fmt::print("| {} | {:.2f} | {:.2f} | {:.4f} | {} |\n", times.name, nvcc * 1e3, nvrtc * 1e3,
             nvrtc / nvcc, times.nvcc.image.bytes == times.nvrtc.image.bytes ? "same" : "differ");
}

}  // namespace

int main(int argument_count, char** arguments)
try {
  auto const rounds = argument_count > 1 ? std::atoi(arguments[1]) : 300;
  auto const count = argument_count > 2 ? static_cast<std::size_t>(std::atoll(arguments[2]))
                                        : std::size_t{64} << 20;
  ::setenv("FATLINK_PATH", FATLINK_DATA_DIR, 1);
  auto const gpu = open_device(argument_count > 3 ? arguments[3] : "gpu");
  compiler nvrtc;
  std::vector<transform_times> transforms;
  for (auto const& file : shipped_sources()) transforms.push_back(prepare(*gpu, nvrtc, file));
  fmt::print(
      "| {}, {} elements, lto, medians of {} rounds | nvcc, µs | NVRTC, µs | NVRTC / nvcc | cubins "
      "|\n|---|---:|---:|---:|---|\n",
      gpu->info().name, count, rounds);
  for (auto& times : transforms) {
    measure(*gpu, times, count, rounds);
    print_row(times);
  }
  return 0;
} catch (std::exception const& failure) {
  fmt::print(stderr, "nvrtc_kernel_bench: {}\n", failure.what());
  return 1;
}
