// SPDX-License-Identifier: Apache-2.0
#include "ptx/ptx_source.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "fatlink/error.hpp"
#include "util/limits.hpp"

namespace fatlink::detail {
namespace {

std::string ptx_error_text(std::string_view name, std::string const& reason, unsigned line)
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
      {.message = ptx_error_text(name_, reason, line_),
       .input = std::string(name_),
       .code = error_code::invalid_ptx,
       .hint = "build it again: a fatbin, object or archive with nvcc, PTX with the compiler "
               "that wrote it"});
}

void ptx_source::exceed(std::string const& reason) const
{
  throw file_error(stage::fatbin,
                   {.message = ptx_error_text(name_, reason + ", the limit", line_),
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

namespace {

// .align N, .attribute(…), .v4 or .TYPE
void read_directive(ptx_source& source, ptx_variable& variable)
{
  auto const word = source.next();
  if (word == ".align")
    variable.align = static_cast<unsigned>(source.read_number(source.next()));
  else if (word == ".attribute")
    variable.is_managed = read_attribute(source);
  else if (variable.type.empty())
    variable.type = source.checked_type(word.substr(1));
  else  // "v4" and ".f32"
    variable.type = source.checked_type(variable.type + std::string(word));
}

// [COUNT] or []
void read_dimension(ptx_source& source, ptx_variable& variable)
{
  source.next();  // "["
  if (source.peek() == "]") {
    variable.is_unsized = true;
  } else {
    auto const count = source.read_number(source.next());
    auto const elements = variable.count == 0 ? 1 : variable.count;
    if (count > std::numeric_limits<unsigned long>::max() / elements)
      source.fail("has an array that is too large");
    variable.count = elements * count;
  }
  if (source.next() != "]") source.fail("has an array without its ']'");
}

/// Skips `= …` and the comma or semicolon after it; true after a comma: another variable follows.
bool skip_initializer(ptx_source& source)
{
  for (int depth = 0; !source.at_end();) {
    auto const word = source.next();
    if (word == ";") return false;
    if (word == "," && depth == 0) return true;
    depth += word == "{" || word == "(" ? 1 : word == "}" || word == ")" ? -1 : 0;
  }
  source.fail("ends inside a variable");
}

}  // namespace

bool read_attribute(ptx_source& source)
{
  if (source.next() != "(") source.fail("has an attribute without parentheses");
  auto is_managed = false;
  for (int depth = 1; depth > 0;) {
    if (source.at_end()) source.fail("ends inside an attribute");
    auto const word = source.next();
    depth += word == "(" ? 1 : word == ")" ? -1 : 0;
    is_managed = is_managed || word == ".managed";
  }
  return is_managed;
}

// [.align N] [.attribute(…)] [.vN] .TYPE NAME[COUNT]… [= …] [, NAME …] ;
std::vector<ptx_variable> read_variables(ptx_source& source, std::string_view space)
{
  std::vector<ptx_variable> variables;
  ptx_variable declared;
  declared.space = std::string(space);
  while (source.peek().starts_with('.')) read_directive(source, declared);
  do {
    auto& variable = variables.emplace_back(declared);
    variable.name = std::string(source.checked_name(source.next()));
    if (variable.name.empty() || variable.name == ";") source.fail("has a variable without a name");
    while (source.peek() == "[") read_dimension(source, variable);
  } while (skip_initializer(source));
  return variables;
}

std::uint64_t bytes_of(ptx_variable const& variable)
{
  if (variable.is_unsized) return 0;
  auto const dot = variable.type.find('.');  // of v4.f32
  auto const scalar = dot == std::string::npos ? variable.type : variable.type.substr(dot + 1);
  std::uint64_t const lanes = dot == std::string::npos ? 1 : variable.type[1] == '2' ? 2 : 4;
  for (auto const bits : {8UL, 16UL, 32UL, 64UL, 128UL})
    if (scalar.size() > 1 && scalar.substr(1) == std::to_string(bits))
      return bits / 8 * lanes * std::max(variable.count, 1UL);
  return 0;
}

}  // namespace fatlink::detail
