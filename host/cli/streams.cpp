// SPDX-License-Identifier: Apache-2.0
#include "streams.hpp"

#include <unistd.h>

#include "options.hpp"
#include "standard_streams.hpp"

namespace fatlink::cli {

bool is_stream(std::string const& path)
{
  return path == "-";
}

void check_output(std::string const& path, bool json)
{
  if (is_stream(path) && json)
    fail_usage("--output - and --json cannot be used together: both write to standard output", path,
               "name a file with --output, or leave out --json");
}

std::unique_ptr<output_file> create_output(std::string const& path)
{
  if (!is_stream(path)) return std::make_unique<output_file>(path);
  print_text_to_standard_error();
  return std::make_unique<output_file>(STDOUT_FILENO, "standard output");
}

std::unique_ptr<npy_writer> create_npy(std::string const& path, std::size_t count)
{
  return std::make_unique<npy_writer>(create_output(path), count);
}

npy_reader open_npy(std::string const& path)
{
  if (is_stream(path)) return {STDIN_FILENO, "standard input"};
  return npy_reader(path);
}

}  // namespace fatlink::cli
