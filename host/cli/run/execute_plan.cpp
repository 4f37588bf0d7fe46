// SPDX-License-Identifier: Apache-2.0
#include "run/execute_plan.hpp"

#include <chrono>

#include "run/plan_arrays.hpp"

namespace fatlink::cli {

mode_result execute_plan(device const& destination, prepared_plan const& code, run_data const& data,
                         std::byte unwritten, std::function<void()> const& before_launch)
{
  auto const extents = code.extents(size_arguments(data));
  plan_arrays const arrays(destination, code.plan(), data, extents, unwritten);
  auto stream = destination.create_stream();
  auto start = destination.create_event();
  auto stop = destination.create_event();
  auto const arguments = arrays.arguments();
  if (before_launch) before_launch();
  time_span measured{.begin = std::chrono::steady_clock::now()};
  start.record(stream);
  code.run(stream, arguments);
  stop.record(stream);
  stream.synchronize();
  measured.end = std::chrono::steady_clock::now();
  return {
      .image = code.image(),
      .launch_ms = std::chrono::duration<double, std::milli>(measured.end - measured.begin).count(),
      .run_ms = stop.ms_since(start),
      .measured = measured,
      .outputs = arrays.read_outputs(),
      .unwritten = unwritten,
      .depths = extents.depths};
}

}  // namespace fatlink::cli
