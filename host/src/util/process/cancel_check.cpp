// SPDX-License-Identifier: Apache-2.0
#include "fatlink/cancel_check.hpp"

#include <utility>

#include "util/process/ask_to_cancel.hpp"

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
