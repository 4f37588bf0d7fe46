// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_error.hpp"

#include "fatbin/json_file.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {

void fail_plan(std::string const& file, std::string const& path, std::string const& cause,
               std::string hint)
{
  fail_json(error_code::invalid_plan, file, path, cause, std::move(hint));
}

void fail_formula(std::string const& file, std::string const& path, std::string const& text,
                  expression_error const& error)
{
  fail_plan(file, path, detail::format("{}: {}", in_quotes(text), error.what()), error.hint());
}

}  // namespace fatlink::detail
