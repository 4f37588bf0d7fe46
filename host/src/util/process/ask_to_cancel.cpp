// SPDX-License-Identifier: Apache-2.0
#include "util/process/ask_to_cancel.hpp"

#include <utility>

namespace fatlink::detail {
namespace {

using clock = std::chrono::steady_clock;

struct asked {
  cancel_function check;
  clock::time_point last;
};

thread_local constinit asked of_thread{};

}  // namespace

cancel_function set_cancel_function(cancel_function next) noexcept
{
  of_thread.last = {};
  return std::exchange(of_thread.check, next);
}

bool may_be_cancelled() noexcept
{
  return of_thread.check.function != nullptr;
}

void throw_if_cancelled(stage origin)
{
  if (!may_be_cancelled()) return;
  auto const now = clock::now();
  if (now - of_thread.last < k_ask_interval) return;
  of_thread.last = now;
  auto const check = of_thread.check;
  if (check.function(check.context) == 0) return;
  throw cancelled_error(origin, {.message = "the call was cancelled by its caller",
                                 .code = error_code::cancelled,
                                 .hint = "call again"});
}

}  // namespace fatlink::detail
