// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_job.hpp"

#include "compile/source_inputs.hpp"
#include "fatlink/preflight.hpp"
#include "installed.hpp"
#include "preflight/interface_queries.hpp"

namespace fatlink::cli {

bool bench_job::has_single_source() const
{
  return files.size() == 2 && files[0].stem() == k_default_library &&
         files[1].stem() == k_default_transform;
}

std::vector<fatbin> bench_job::modules(target target) const
{
  return select_modules(inputs, {.target = target,
                                 .mode = modes.back(),
                                 .allow_calls = flags.options.allow_calls,
                                 .whole_archive = flags.options.whole_archive,
                                 .kernels = flags.options.kernels});
}

link_options bench_job::make_options(target target, link_mode mode) const
{
  auto of_mode = flags;
  of_mode.require_inlined = flags.require_inlined && mode == link_mode::lto;
  return of_mode.make_options(target, mode, image_kind::cubin);
}

bench_job read_job(std::string const& library, std::vector<std::string> const& transforms,
                   std::string const& mode, link_flags flags)
{
  bench_job job;
  job.modes = parse_modes(mode);
  job.flags = std::move(flags);
  for (auto const link_mode : job.modes) (void)job.make_options({}, link_mode);
  job.files = {fatbin_or_default(library, k_shipped_library)};
  for (auto const& transform : transforms) job.files.push_back(input_file(transform));
  if (transforms.empty()) job.files.push_back(fatbin_or_default({}, k_shipped_transform));
  job.inputs = read_inputs(job.files, job.flags.source_flags());
  auto const& kernels = job.flags.options.kernels;
  job.kernel = select_kernel(job.modules(detail::newest_target()),
                             kernels.empty() ? std::string() : kernels.front());
  return job;
}

}  // namespace fatlink::cli
