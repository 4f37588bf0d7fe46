// SPDX-License-Identifier: Apache-2.0
#include "defaults.hpp"

#include <fmt/format.h>

#include "fatlink/error.hpp"

namespace fatlink::cli {

std::filesystem::path data_folder()
{
  std::error_code ignored;
  auto const program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return program.parent_path().parent_path() / "share" / "fatlink";
}

std::filesystem::path fatbin_or_default(std::string const& given, char const* name,
                                        char const* option)
{
  if (!given.empty()) return given;
  auto const shipped = data_folder() / fmt::format("{}.fatbin", name);
  if (std::filesystem::exists(shipped)) return shipped;
  throw file_error(
      stage::input,
      {.message = fmt::format("{}: no such file (the default of {})", shipped.string(), option),
       .input = shipped.string(),
       .code = {},
       .log = {},
       .hint = fmt::format("build or install it, or pass {} FILE", option)});
}

}  // namespace fatlink::cli
