// SPDX-License-Identifier: Apache-2.0
#include "detail/ptx_source.hpp"

#include <charconv>

#include "detail/format.hpp"
#include "fatlink/error.hpp"

namespace fatlink::detail {

void ptx_source::fail(std::string const& reason) const
{
  throw file_error(stage::fatbin,
                   {.message = detail::format("{}: its PTX {} (line {})", name_, reason, line()),
                    .input = std::string(name_),
                    .code = {},
                    .log = {},
                    .hint = "build the fatbin again with nvcc"});
}

unsigned long ptx_source::read_number(std::string_view digits) const
{
  unsigned long value = 0;
  auto const is_hex = digits.starts_with("0x");
  auto const* const begin = digits.data() + (is_hex ? 2 : 0);
  auto const* const end = digits.data() + digits.size();
  if (auto const [rest, code] = std::from_chars(begin, end, value, is_hex ? 16 : 10);
      code != std::errc{} || rest != end)
    fail(detail::format("has '{}' where a number belongs", digits));
  return value;
}

}  // namespace fatlink::detail
