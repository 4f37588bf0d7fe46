// SPDX-License-Identifier: Apache-2.0
#include "run/plan_memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace fatlink::cli {
namespace {

constexpr double k_gigabyte = 1e9;
constexpr auto k_unknown = std::numeric_limits<std::uint64_t>::max();

std::uint64_t available_in_machine()
{
  std::ifstream file("/proc/meminfo");
  std::uint64_t kibibytes = 0;
  for (std::string name, rest; file >> name >> kibibytes; std::getline(file, rest))
    if (name == "MemAvailable:") return kibibytes * 1024;
  return k_unknown;
}

/// Of the control group that a container sees as its own, version 2; "max" without a limit.
std::uint64_t limit_of_group()
{
  std::ifstream file("/sys/fs/cgroup/memory.max");
  std::uint64_t bytes = 0;
  return file >> bytes ? bytes : k_unknown;
}

std::uint64_t limit_of_process()
{
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return k_unknown;
  return limit.rlim_cur;
}

std::size_t copies_of(plan_argument const& argument, array_copies copies)
{
  std::size_t const on_device = copies.on_host ? 1 : 0;
  switch (argument.role) {
    case argument_role::input:
      return 1 + on_device;
    case argument_role::output:
      return copies.outputs + on_device;
    case argument_role::scratch:
      return on_device;
    default:
      return 0;
  }
}

/// As double: the sum of arrays may exceed 64 bits, and an error of 1e-16 does not matter.
double bytes_of(plan_argument const& argument, std::vector<std::size_t> const& extents)
{
  auto bytes = static_cast<double>(argument.type->size);
  for (auto const extent : extents) bytes *= static_cast<double>(extent);
  return bytes;
}

}  // namespace

std::uint64_t available_memory()
{
  return std::min({available_in_machine(), limit_of_group(), limit_of_process()});
}

void check_memory(launch_plan const& plan, std::vector<std::vector<std::size_t>> const& extents,
                  array_copies copies, std::uint64_t held)
{
  double needed = 0;
  for (std::size_t i = 0; i < plan.arguments.size(); ++i)
    if (auto const count = copies_of(plan.arguments[i], copies); !extents[i].empty() && count != 0)
      needed += static_cast<double>(count) * bytes_of(plan.arguments[i], extents[i]);
  auto const available = static_cast<double>(available_memory()) + static_cast<double>(held);
  if (needed <= available) return;
  throw unavailable_error(
      stage::device,
      {.message = fmt::format("the arrays of plan {} take {:.1f} GB of this machine's memory; "
                              "{:.1f} GB are available",
                              plan.name, needed / k_gigabyte, available / k_gigabyte),
       .input = plan.name,
       .code = error_code::out_of_memory,
       .hint = "use smaller inputs"});
}

}  // namespace fatlink::cli
