// SPDX-License-Identifier: Apache-2.0
#include "c_interface/guard.hpp"

#include "device/device_checks.hpp"
#include "util/text/format.hpp"

namespace fatlink::c {

void fail_null(std::string const& parameter)
{
  detail::fail_use(detail::format("{} is NULL", parameter), parameter,
                   detail::format("pass a valid pointer for {}", parameter));
}

void fail_count(std::size_t count, char const* parameter)
{
  detail::fail_use(
      detail::format("the count of {} is {}, more than fits into memory", parameter, count),
      parameter, detail::format("pass the number of entries of {}", parameter));
}

std::string required_text(char const* text, char const* parameter)
{
  if (text == nullptr) fail_null(parameter);
  return text;
}

std::vector<std::string> texts(char const* const* pointer, std::size_t count, char const* parameter)
{
  std::vector<std::string> result;
  for (auto const* const text : list(pointer, count, parameter)) {
    if (text == nullptr) fail_null(detail::format("{}[{}]", parameter, result.size()));
    result.emplace_back(text);
  }
  return result;
}

void check_index(std::size_t index, std::size_t count, char const* objects)
{
  if (index < count) return;
  detail::fail_use(detail::format("index {} is too large: there are {} {}", index, count, objects),
                   "index", detail::format("pass an index below {}", count));
}

}  // namespace fatlink::c
