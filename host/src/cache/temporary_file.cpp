// SPDX-License-Identifier: Apache-2.0
#include "cache/temporary_file.hpp"

#include <string_view>

#include "util/files/output_file.hpp"

namespace fatlink::cache {
namespace {

constexpr std::string_view k_suffix = ".tmp";
constexpr std::size_t k_random_digits = 16;

}  // namespace

std::string temporary_file_of(std::string const& name)
{
  return detail::add_random(name) + std::string(k_suffix);
}

std::optional<std::string> target_of_temporary_file(std::string const& file)
{
  auto const ending_size = 1 + k_random_digits + k_suffix.size();
  if (!file.ends_with(k_suffix) || file.size() <= ending_size) return std::nullopt;
  auto const name_size = file.size() - ending_size;
  auto const digits = std::string_view(file).substr(name_size + 1, k_random_digits);
  if (file[name_size] != '.' ||
      digits.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    return std::nullopt;
  return file.substr(0, name_size);
}

}  // namespace fatlink::cache
