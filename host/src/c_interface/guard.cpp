// SPDX-License-Identifier: Apache-2.0
#include "c_interface/guard.hpp"

#include "device/misuse.hpp"
#include "util/text/format.hpp"

namespace fatlink::c {

void fail_null(std::string const& parameter)
{
  detail::fail_use(detail::format("{} is NULL", parameter), parameter,
                   detail::format("pass a valid pointer for {}", parameter));
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
