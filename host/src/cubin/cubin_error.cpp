// SPDX-License-Identifier: Apache-2.0
#include "cubin/cubin_error.hpp"

#include "fatlink/format_error.hpp"

namespace fatlink::detail {
namespace {

[[noreturn]] void fail_cubin(cubin_name const& name, error_code code, std::uint64_t offset,
                             std::string const& cause, char const* hint)
{
  auto const part = name.part.empty() ? std::string() : detail::format("{}: ", name.part);
  throw format_error(stage::input, offset,
                     {.message = detail::format("{}: {}{}, at byte {}{}", name.input, part, cause,
                                                offset, part.empty() ? "" : " of it"),
                      .input = std::string(name.input),
                      .code = code,
                      .hint = hint});
}

}  // namespace

void fail_corrupt(cubin_name const& name, std::uint64_t offset, std::string const& cause)
{
  fail_cubin(name, error_code::corrupt_cubin, offset, "damaged cubin: " + cause,
             "build it again, or copy it again in full");
}

void fail_above_limit(cubin_name const& name, cubin_above_limit const& limit)
{
  fail_cubin(name, error_code::above_limit, limit.offset,
             "the cubin " + limit.excess + ", the limit",
             "split it into several, each with fewer sources");
}

}  // namespace fatlink::detail
