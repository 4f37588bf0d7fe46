// SPDX-License-Identifier: Apache-2.0
#include "fatbin_files.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "options.hpp"
#include "terminal/streams.hpp"

namespace fatlink::cli {
namespace {

/// The files to write, each with its bytes.
class outputs {
 public:
  void add(std::unique_ptr<output_file> file, bytes_view bytes)
  {
    file->write(bytes);
    files_.push_back(std::move(file));
  }
  /// After all have been written; the one that was added last is first.
  void commit()
  {
    for (auto file = files_.rbegin(); file != files_.rend(); ++file) (*file)->commit();
  }

 private:
  std::vector<std::unique_ptr<output_file>> files_;
};

}  // namespace

bool has_sidecar(std::string const& output)
{
  std::error_code ignored;
  auto const status = std::filesystem::status(output, ignored);
  return !is_standard_output(output) &&
         (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status));
}

std::string sidecar_name(std::string const& output)
{
  return packed_sidecar(output).string();
}

void check_fatbin_output(std::string const& output,
                         std::vector<std::filesystem::path> const& inputs, bool json)
{
  check_output(output, json);
  if (is_standard_output(output)) return;
  if (std::filesystem::path(output).extension() == ".json")
    fail_usage(fmt::format("{}: a fatbin and its sidecar cannot have one name", output), output,
               "name the fatbin x.fatbin; its sidecar is then x.json");
  must_not_overwrite(inputs, output);
  if (!has_sidecar(output)) return;
  auto const sidecar = packed_sidecar(output);
  must_not_overwrite(inputs, sidecar.string());
  auto const owner = std::filesystem::path(sidecar).replace_extension(".fatbin");
  if (owner != output && std::filesystem::exists(owner))
    fail_usage(fmt::format("{}: its sidecar would be {}, which is that of {}", output,
                           sidecar.string(), owner.string()),
               output, "name it x.fatbin, or choose another stem");
}

void write_fatbin_files(fatbin const& code, std::string const& output,
                        std::vector<detail::sidecar_ptr> const& sidecars,
                        sidecar_precedence precedence, std::vector<std::string>& warnings)
{
  outputs files;
  files.add(create_output(output), code.bytes());
  if (has_sidecar(output)) {
    auto const text = make_sidecar(code, output, sidecars, precedence, warnings)
                          .dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
                      '\n';
    files.add(std::make_unique<output_file>(packed_sidecar(output)),
              std::as_bytes(std::span(text)));
  }
  files.commit();
}

}  // namespace fatlink::cli
