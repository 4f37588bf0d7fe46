// SPDX-License-Identifier: Apache-2.0
#include "run/execute_plan.hpp"

#include "run/plan_arrays.hpp"
#include "util/process/stopwatch.hpp"

namespace fatlink::cli {

mode_result execute_plan(device const& destination, prepared_plan const& code, run_data const& data,
                         std::byte unwritten)
{
  auto const extents = code.extents(size_arguments(data));
  plan_arrays const arrays(destination, code.plan(), data, extents, unwritten);
  auto stream = destination.create_stream();
  auto start = destination.create_event();
  auto stop = destination.create_event();
  auto const arguments = arrays.arguments();
  detail::stopwatch watch;
  start.record(stream);
  code.run(stream, arguments);
  stop.record(stream);
  stream.synchronize();
  auto const launch_ms = watch.lap();
  return {.image = code.image(),
          .launch_ms = launch_ms,
          .run_ms = stop.ms_since(start),
          .outputs = arrays.read_outputs(),
          .unwritten = unwritten,
          .depths = extents.depths};
}

}  // namespace fatlink::cli
