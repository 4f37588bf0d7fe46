// SPDX-License-Identifier: Apache-2.0
#include "fatbins/fatbin_output.hpp"

#include <utility>

#include "code_report.hpp"
#include "terminal/streams.hpp"
#include "util/bytes/sha256.hpp"

namespace fatlink::cli {
namespace {

/// Whether a sidecar can be beside `output`: not for standard output, devices and FIFOs.
bool has_sidecar(std::string const& output)
{
  std::error_code ignored;
  auto const status = std::filesystem::status(output, ignored);
  return !is_standard_output(output) &&
         (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status));
}

}  // namespace

void add_fatbin_output(CLI::App& verb, std::string& output)
{
  verb.add_option("-o,--output", output,
                  "fatbin to write; its sidecar is written beside it; -: standard output")
      ->type_name("FILE.fatbin")
      ->required();
}

void check_fatbin_output(std::string const& output,
                         std::vector<std::filesystem::path> const& inputs, bool json)
{
  check_output(output, json);
  if (is_standard_output(output)) return;
  must_not_overwrite(inputs, output);
  if (has_sidecar(output)) must_not_overwrite(inputs, detail::packed_sidecar(output).string());
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

nlohmann::json describe_output(fatbin const& code, std::string const& output,
                               std::vector<std::string> const& warnings)
{
  auto entries = nlohmann::json::array();
  for (auto const& entry : code.entries())
    entries.push_back({{"kind", name_of(entry.kind)},
                       {"target", entry.target.name()},
                       {"stored_bytes", entry.payload.size()}});
  nlohmann::json json{{"output", output},
                      {"bytes", code.bytes().size()},
                      {"sha256", detail::to_hexadecimal(code.digest())},
                      {"entries", entries},
                      {"warnings", warnings}};
  if (auto const contract = contract_name(code); contract != "none") json["contract"] = contract;
  if (has_sidecar(output)) json["sidecar"] = detail::packed_sidecar(output).string();
  return json;
}

}  // namespace fatlink::cli
