// SPDX-License-Identifier: Apache-2.0
#include "run/execute_plan.hpp"

#include "run/plan_arrays.hpp"
#include "util/process/stopwatch.hpp"

namespace fatlink::cli {

mode_result execute_plan(device const& destination, launch_plan const& plan,
                         std::vector<input> const& inputs, run_data const& data,
                         linked_image const& image, std::byte unwritten)
{
  detail::stopwatch watch;
  auto const code = prepare(destination, plan, inputs, image);
  auto const load_ms = watch.lap();
  auto const extents = code.extents(size_arguments(data));
  plan_arrays const arrays(destination, plan, data, extents, unwritten);
  auto stream = destination.create_stream();
  auto start = destination.create_event();
  auto stop = destination.create_event();
  auto const arguments = arrays.arguments();
  (void)watch.lap();
  start.record(stream);
  code.run(stream, arguments);
  stop.record(stream);
  stream.synchronize();
  auto const launch_ms = watch.lap();
  return {.image = image,
          .load_ms = load_ms,
          .launch_ms = launch_ms,
          .run_ms = stop.ms_since(start),
          .outputs = arrays.read_outputs(),
          .unwritten = unwritten,
          .depths = extents.depths};
}

}  // namespace fatlink::cli
