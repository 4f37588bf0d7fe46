// SPDX-License-Identifier: Apache-2.0
#include "fatbins/fatbin_files.hpp"

#include <utility>

#include "terminal/streams.hpp"

namespace fatlink::cli {

bool has_sidecar(std::string const& output)
{
  std::error_code ignored;
  auto const status = std::filesystem::status(output, ignored);
  return !is_standard_output(output) &&
         (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status));
}

std::string sidecar_name(std::string const& output)
{
  return detail::packed_sidecar(output).string();
}

void check_fatbin_output(std::string const& output,
                         std::vector<std::filesystem::path> const& inputs, bool json)
{
  check_output(output, json);
  if (is_standard_output(output)) return;
  must_not_overwrite(inputs, output);
  if (has_sidecar(output)) must_not_overwrite(inputs, sidecar_name(output));
  detail::check_fatbin_path(output);
}

void write_fatbin_files(fatbin const& code, std::string const& output,
                        std::vector<detail::sidecar_ptr> const& sidecars,
                        detail::sidecar_precedence precedence, std::vector<std::string>& warnings)
{
  auto file = create_output(output);
  if (has_sidecar(output))
    return detail::write_fatbin_files(code, std::move(file), sidecars, precedence, warnings);
  file->write(code.bytes());
  file->commit();
}

}  // namespace fatlink::cli
