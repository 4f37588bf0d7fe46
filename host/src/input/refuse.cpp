// SPDX-License-Identifier: Apache-2.0
#include "input/refuse.hpp"

#include <algorithm>

#include "fatlink/fatbin.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {

void refuse_damaged(input_file const& file, std::uint64_t offset, std::string const& cause)
{
  throw format_error(stage::input, offset,
                     {.message = detail::format("{}: {}, at byte {}", file.name, cause, offset),
                      .input = std::string(file.name),
                      .code = file.damage,
                      .hint = file.hint});
}

void refuse_truncated(input_file const& file, out_of_bytes const& end)
{
  refuse_damaged(file, end.offset,
                 detail::format("truncated: {} bytes are needed here, the file has {} in all",
                                end.wanted, end.size));
}

void refuse_input(error_code code, std::string_view name, std::string const& cause,
                  std::string const& hint)
{
  throw format_error(stage::input, 0,
                     {.message = detail::format("{}: {}", name, cause),
                      .input = std::string(name),
                      .code = code,
                      .hint = hint});
}

void refuse_ptx(std::string_view text, std::string_view name, std::size_t offset,
                std::string const& cause)
{
  auto const line = 1 + std::count(text.data(), text.data() + offset, '\n');
  throw format_error(
      stage::input, offset,
      {.message = detail::format("{}: its PTX {} (line {})", name, cause, line),
       .input = std::string(name),
       .code = error_code::corrupt_ptx,
       .hint = "generate it again, with nvcc -rdc=true -ptx or NVRTC -rdc=true, for 64-bit "
               "addresses; or copy it again in full"});
}

}  // namespace fatlink::detail
