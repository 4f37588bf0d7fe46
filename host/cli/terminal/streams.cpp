// SPDX-License-Identifier: Apache-2.0
#include "terminal/streams.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "fatbin/sidecar.hpp"
#include "options.hpp"
#include "terminal/standard_streams.hpp"

namespace fatlink::cli {

bool is_stream(std::string const& path)
{
  return path == "-";
}

bool is_standard_output(std::string const& path)
{
  return is_stream(path) || path == "/dev/stdout" || path == "/dev/fd/1" ||
         path == "/proc/self/fd/1";
}

void check_output(std::string const& path, bool json)
{
  if (is_standard_output(path) && json)
    fail_usage("--output - and --json cannot be used together: both write to standard output", path,
               "name a file with --output, or remove --json");
}

void must_not_overwrite(std::vector<std::filesystem::path> const& inputs, std::string const& path)
{
  std::error_code ignored;
  for (auto const& input : inputs)
    for (auto const& file :
         {input, detail::sidecar_path(input), std::filesystem::path(input) += ".json"})
      if (std::filesystem::equivalent(file, path, ignored))
        fail_usage(fmt::format("{} is also an input", path), path,
                   "name another file with --output");
}

std::unique_ptr<output_file> create_output(std::string const& path)
{
  if (!is_standard_output(path)) return std::make_unique<output_file>(path);
  print_text_to_standard_error();
  return std::make_unique<output_file>(STDOUT_FILENO, "standard output");
}

std::unique_ptr<npy_writer> create_npy(std::string const& path, element_type const& type,
                                       std::span<std::size_t const> extents)
{
  return std::make_unique<npy_writer>(create_output(path), type, extents);
}

npy_reader open_npy(std::string const& path)
{
  if (is_stream(path)) return {STDIN_FILENO, "standard input"};
  return npy_reader(path);
}

}  // namespace fatlink::cli
