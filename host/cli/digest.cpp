// SPDX-License-Identifier: Apache-2.0
// fatlink digest: adds digests of its entries to a fatbin, in place, so that readers notice damage.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "error_report.hpp"
#include "fatbin/add_digests.hpp"
#include "fatbin/entry_digests.hpp"
#include "fatbin/sidecar.hpp"
#include "fatlink/fatbin.hpp"
#include "util/files/output_file.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

struct arguments {
  std::vector<std::string> files;
  bool json = false;
};

/// The .json beside `path` would no longer state the digest of the file.
void refuse_stated_digest(std::filesystem::path const& path)
{
  if (!detail::stated_sha256(path)) return;
  auto const json = std::filesystem::path(path).replace_extension(".json").string();
  throw file_error(
      stage::fatbin,
      {.message = fmt::format("{}: {} states the sha256 of the file as it is", path.string(), json),
       .input = path.string(),
       .code = error_code::digest_in_sidecar,
       .hint = fmt::format("leave it as it is: it is verified by {}; or remove \"sha256\" from {}",
                           json, json)});
}

void write(std::filesystem::path const& path, bytes_view bytes)
{
  output_file file(std::filesystem::canonical(path));  // the target of a symbolic link
  file.write(bytes);
  file.commit();
}

nlohmann::json add_to(std::string const& path)
{
  auto const input = fatbin::read(path);
  refuse_stated_digest(path);
  auto const result = fatbin::from_bytes(detail::add_digests(input.bytes(), path), path);
  write(path, result.bytes());
  auto entries = nlohmann::json::array();
  for (auto const& entry : result.entries())
    entries.push_back(detail::describe_entry(result.bytes(), entry));
  return {{"file", path}, {"bytes", result.bytes().size()}, {"entries", entries}};
}

int digest(arguments const& given)
{
  auto files = nlohmann::json::array();
  for (auto const& path : given.files) files.push_back(add_to(path));
  if (given.json)
    print_json("fatlink.digest/1", {{"files", files}});
  else
    for (auto const& file : files)
      fmt::print("{}: digests of {} entries, {} bytes\n", file["file"].get<std::string>(),
                 file["entries"].size(), file["bytes"].get<std::size_t>());
  return k_done;
}

}  // namespace

void add_digest(CLI::App& app, int& exit_status)
{
  auto given = std::make_shared<arguments>();
  auto* verb = app.add_subcommand("digest", "Add digests to fatbins, so that damage is noticed.");
  verb->add_option("FATBIN", given->files, "files, which are rewritten")->required();
  verb->add_flag("--json", given->json, "one JSON object on standard output");
  verb->footer(
      "Example: fatlink digest half.fatbin\n"
      "Every entry's ident then states a digest of every entry; a fatbin that does not have them "
      "is\n"
      "refused with exit status 3. fatlink_add_fatbin in CMake does this after each build.");
  verb->callback([given, &exit_status] { exit_status = digest(*given); });
}

}  // namespace fatlink::cli
