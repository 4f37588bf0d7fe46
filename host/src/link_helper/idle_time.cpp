// SPDX-License-Identifier: Apache-2.0
#include "link_helper/idle_time.hpp"

#include <algorithm>

#include "util/process/environment.hpp"
#include "util/text/format.hpp"
#include "util/text/number.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {
namespace {

constexpr char const* k_variable = "FATLINK_HELPER_IDLE_SECONDS";
constexpr double k_default_seconds = 60;
constexpr double k_longest_seconds = 1e6;

}  // namespace

std::chrono::milliseconds idle_time()
{
  auto const seconds = read_decimal(environment(k_variable)).value_or(k_default_seconds);
  return std::chrono::milliseconds(static_cast<long>(std::min(seconds, k_longest_seconds) * 1000));
}

std::string idle_time_warning()
{
  auto const text = environment(k_variable);
  if (text.empty() || read_decimal(text)) return {};
  return detail::format("{}: '{}' is not a number of seconds; helpers end after {} idle seconds",
                        k_variable, printable(text), k_default_seconds);
}

}  // namespace fatlink::detail
