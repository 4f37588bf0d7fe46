// SPDX-License-Identifier: Apache-2.0
#include "live/find_inputs.hpp"

#include "util/process/stopwatch.hpp"

namespace fatlink::detail {

read_inputs find_inputs(std::vector<std::string> const& names)
{
  read_inputs result;
  stopwatch watch;
  for (auto const& name : names) result.inputs.push_back(input::find(name));
  result.ms = watch.lap();
  return result;
}

}  // namespace fatlink::detail
