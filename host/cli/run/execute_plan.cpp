// SPDX-License-Identifier: Apache-2.0
#include "run/execute_plan.hpp"

#include <algorithm>
#include <string>

#include "fatlink/error.hpp"
#include "run/plan_arrays.hpp"
#include "util/process/stopwatch.hpp"

namespace fatlink::cli {
namespace {

/// Whether hooks get a null pointer as their state.
bool lacks_state(run_data const& data)
{
  return std::ranges::any_of(data.states, [](auto const& state) { return state.second.empty(); });
}

mode_result launch(device const& destination, prepared_plan const& code, run_data const& data,
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

}  // namespace

mode_result execute_plan(device const& destination, prepared_plan const& code, run_data const& data,
                         std::byte unwritten)
try {
  return launch(destination, code, data, unwritten);
} catch (device_error const& failure) {
  auto details = failure.details();
  auto const is_null = details.code == error_code::illegal_address &&
                       details.message.find("a null pointer") != std::string::npos;
  if (!is_null || !lacks_state(data)) throw;
  details.hint =
      "if the transform needs a state, pass its bytes with --state FILE, or state its fields in "
      "the transform's .json; otherwise " +
      details.hint;
  throw device_error(failure.where(), details);
}

}  // namespace fatlink::cli
