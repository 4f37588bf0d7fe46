// SPDX-License-Identifier: Apache-2.0
#include "util/process/cancel_check.hpp"

#include <utility>

#include "fatlink/cancel_check.hpp"

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

namespace fatlink {
namespace {

std::int32_t ask(void* function)
{
  return (*static_cast<std::function<bool()>*>(function))() ? 1 : 0;
}

}  // namespace

cancel_check::cancel_check(std::function<bool()> is_cancelled)
    : is_cancelled_(std::move(is_cancelled))
{
  auto const previous = detail::set_cancel_function({.function = ask, .context = &is_cancelled_});
  previous_ = previous.function;
  previous_context_ = previous.context;
}

cancel_check::~cancel_check()
{
  detail::set_cancel_function({.function = previous_, .context = previous_context_});
}

}  // namespace fatlink
