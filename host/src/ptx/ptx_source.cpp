// SPDX-License-Identifier: Apache-2.0
#include "ptx/ptx_source.hpp"

#include <charconv>

#include "fatlink/error.hpp"
#include "util/limits.hpp"

namespace fatlink::detail {
namespace {

std::string describe(std::string_view name, std::string const& reason, unsigned line)
{
  return std::string(name) + ": its PTX " + reason + " (line " + std::to_string(line) + ")";
}

}  // namespace

bool ptx_source::skip_unterminated(std::string_view word) noexcept
{
  ptx::token const begin{.kind = ptx::token_kind::directive, .text = word};
  if (!ptx::unterminated_directive::begins_with(begin)) return false;
  for (ptx::unterminated_directive directive(begin); directive.takes(token_);) next();
  return true;
}

void ptx_source::note_mention(std::string_view word) noexcept
{
  if (auto const mention = mentions_.find(word); mention != mentions_.end()) mention->second = true;
}

void ptx_source::fail(std::string const& reason) const
{
  throw file_error(
      stage::fatbin,
      {.message = describe(name_, reason, line_),
       .input = std::string(name_),
       .code = error_code::invalid_ptx,
       .hint = "build it again: a fatbin, object or archive with nvcc, PTX with the compiler "
               "that wrote it"});
}

void ptx_source::exceed(std::string const& reason) const
{
  throw file_error(stage::fatbin,
                   {.message = describe(name_, reason + ", the limit", line_),
                    .input = std::string(name_),
                    .code = error_code::above_limit,
                    .hint = "split the source into several, each with a fatbin of its own"});
}

std::string_view ptx_source::checked_name(std::string_view name) const
{
  if (name.size() <= limits::k_name_bytes) return name;
  exceed("has a name of " + std::to_string(name.size()) + " bytes, above " +
         std::to_string(limits::k_name_bytes));
}

std::string_view ptx_source::checked_type(std::string_view type) const
{
  if (type.size() <= limits::k_type_bytes) return type;
  exceed("has a type whose name has " + std::to_string(type.size()) + " bytes, above " +
         std::to_string(limits::k_type_bytes));
}

unsigned long ptx_source::read_number(std::string_view digits) const
{
  unsigned long value = 0;
  auto const is_hex = digits.starts_with("0x");
  auto const* const begin = digits.data() + (is_hex ? 2 : 0);
  auto const* const end = digits.data() + digits.size();
  if (auto const [stop, code] = std::from_chars(begin, end, value, is_hex ? 16 : 10);
      code != std::errc{} || stop != end)
    fail("has '" + std::string(digits) + "' where a number belongs");
  return value;
}

}  // namespace fatlink::detail
