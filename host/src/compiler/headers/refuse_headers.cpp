// SPDX-License-Identifier: Apache-2.0
#include "compiler/headers/refuse_headers.hpp"

#include "fatlink/error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {

void refuse_above_limit(std::string const& cause)
{
  throw file_error(stage::compiler, {.message = "the headers of the source: " + cause,
                                     .input = "headers",
                                     .code = error_code::above_limit,
                                     .hint = "include fewer headers, or compile it with nvcc"});
}

void refuse_nul(std::string const& name)
{
  throw file_error(stage::compiler, {.message = detail::format("{} has a NUL byte", name),
                                     .input = name,
                                     .code = error_code::invalid_source,
                                     .hint = "save it as UTF-8 text"});
}

void refuse_two_meanings(std::string const& spelled, std::string const& owner)
{
  throw compile_error(
      stage::compiler,
      {.message = detail::format("{} is named by a macro in {}, and is another file beside it than "
                                 "elsewhere",
                                 spelled, owner),
       .input = owner,
       .code = error_code::header_not_found,
       .hint = "name the header in the directive, without a macro"});
}

void refuse_unresolved(std::string const& text)
{
  throw compile_error(
      stage::compiler,
      {.message = detail::format("the condition of {} cannot be decided: its macros may name more "
                                 "headers than the limits allow",
                                 text),
       .input = "headers",
       .code = error_code::above_limit,
       .hint = "write the name of the header in __has_include, or compile it with nvcc"});
}

}  // namespace fatlink::detail
