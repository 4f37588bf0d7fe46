// SPDX-License-Identifier: Apache-2.0
#include "ptx/ptx_source.hpp"

#include <charconv>

#include "fatlink/error.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"

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

void ptx_source::exceed(std::string const& what) const
{
  throw file_error(
      stage::fatbin,
      {.message = detail::format("{}: its PTX {}, the limit (line {})", name_, what, line()),
       .input = std::string(name_),
       .code = "above-limit",
       .log = {},
       .hint = "split the source into several, each with a fatbin of its own"});
}

std::string_view ptx_source::checked_name(std::string_view name) const
{
  if (name.size() <= limits::k_name_bytes) return name;
  exceed(detail::format("has a name of {} bytes, above {}", name.size(), limits::k_name_bytes));
}

std::string_view ptx_source::checked_type(std::string_view type) const
{
  if (type.size() <= limits::k_type_bytes) return type;
  exceed(detail::format("has a type whose name has {} bytes, above {}", type.size(),
                        limits::k_type_bytes));
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
