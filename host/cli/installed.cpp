// SPDX-License-Identifier: Apache-2.0
#include "installed.hpp"

#include <fmt/format.h>

#include "fatlink/error.hpp"

namespace fatlink::cli {
namespace {

[[noreturn]] void fail_missing(std::string const& name, std::string const& package,
                               std::string const& option, std::string log)
{
  throw file_error(
      stage::input,
      {.message = fmt::format("{} is not installed (the default{})", name,
                              option.empty() ? "" : " of " + option),
       .input = name,
       .code = error_code::not_installed,
       .log = std::move(log),
       .hint = fmt::format("install the package {}{}", package,
                           option.empty() ? "" : fmt::format(", or pass {} FILE", option))});
}

}  // namespace

bool is_used(installed_fatbin const& entry)
{
  return entry.hidden_by.empty() && entry.problem.empty();
}

std::vector<search_folder> search_path()
{
  return default_search_path(installed_data_folder());
}

std::filesystem::path fatbin_file(std::string const& name)
{
  return is_fatbin_name(name) ? find_fatbin(name, search_path()) : std::filesystem::path(name);
}

std::filesystem::path input_file(std::string const& name)
{
  return is_input_name(name) ? find_fatbin(name, search_path()) : std::filesystem::path(name);
}

std::filesystem::path fatbin_or_default(std::string const& name, shipped_fatbin const& shipped)
{
  if (!name.empty()) return input_file(name);
  try {
    return find_fatbin(shipped.name, search_path());
  } catch (file_error const& missing) {
    fail_missing(shipped.name, shipped.package, shipped.option, missing.details().log);
  }
}

std::filesystem::path bench_fatbin()
{
  auto file = installed_data_folder() / "bench" / "bench.fatbin";
  if (!std::filesystem::exists(file)) fail_missing(file.string(), "fatlink-runtime", {}, {});
  return file;
}

}  // namespace fatlink::cli
