// SPDX-License-Identifier: Apache-2.0
#include "device/kernel_parameters.hpp"

#include <algorithm>

#include "fatlink/error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

std::string list_of(std::span<std::size_t const> sizes)
{
  std::string text;
  for (auto const size : sizes) {
    if (!text.empty()) text += ", ";
    text += std::to_string(size);
  }
  return text;
}

/// "takes 3 parameters of 8, 8, 4 bytes", "takes no parameter".
std::string describe_expected(std::span<std::size_t const> sizes)
{
  if (sizes.empty()) return "takes no parameter";
  auto const is_one_byte = sizes.size() == 1 && sizes[0] == 1;
  return detail::format("takes {} parameter{} of {} byte{}", sizes.size(),
                        sizes.size() == 1 ? "" : "s", list_of(sizes), is_one_byte ? "" : "s");
}

/// "2 of 8, 8 were given", "none was given".
std::string describe_passed(std::span<std::size_t const> sizes)
{
  if (sizes.empty()) return "none was given";
  return detail::format("{} of {} {} given", sizes.size(), list_of(sizes),
                        sizes.size() == 1 ? "was" : "were");
}

}  // namespace

void check_kernel_parameters(std::string const& kernel, std::span<std::size_t const> expected,
                             std::span<std::size_t const> actual)
{
  if (std::equal(expected.begin(), expected.end(), actual.begin(), actual.end())) return;
  throw usage_error(
      {.message = detail::format("kernel {} {}; {}", kernel, describe_expected(expected),
                                 describe_passed(actual)),
       .input = kernel,
       .code = error_code::wrong_kernel_arguments,
       .hint = "name another kernel, or pass the parameters that this one declares"});
}

}  // namespace fatlink::detail
