// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_images.hpp"

#include <utility>

#include "bench/variants.hpp"
#include "fatlink/linker.hpp"
#include "run/report_parts.hpp"

namespace fatlink::cli {

bench_image link_complete(device const& gpu, std::filesystem::path const& file, char const* variant)
{
  std::vector inputs{input::read(file)};
  auto image = linker().link(inputs, gpu.link_options(link_mode::ptx));
  return {variant, std::move(inputs), std::move(image)};
}

std::vector<bench_image> link_variants(device const& gpu, bench_job const& job)
{
  std::vector<bench_image> images;
  for (auto const mode : job.modes)
    images.push_back(
        {name_of(mode), job.inputs,
         job.flags.linker().link(job.inputs, job.make_options(gpu.info().target, mode))});
  if (auto const file = job.single_source())
    images.push_back(link_complete(gpu, *file, k_single_source));
  return images;
}

}  // namespace fatlink::cli
