// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_error.hpp"

#include "fatlink/error.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {

void fail_plan(std::string const& file, std::string const& path, std::string const& cause,
               std::string hint)
{
  throw file_error(stage::sidecar,
                   {.message = path.empty() ? detail::format("{}: {}", file, cause)
                                            : detail::format("{}: {}: {}", file, path, cause),
                    .input = file,
                    .code = error_code::invalid_plan,
                    .hint = std::move(hint)});
}

void fail_formula(std::string const& file, std::string const& path, std::string const& text,
                  expression_error const& error)
{
  fail_plan(file, path, detail::format("{}: {}", in_quotes(text), error.what()), error.hint());
}

std::string in_quotes(std::string const& text)
{
  auto const line = printable_line(text);
  return detail::format("\"{}{}\"", line, line.size() < text.size() ? "…" : "");
}

}  // namespace fatlink::detail
