// SPDX-License-Identifier: Apache-2.0
// fatlink digest: adds digests of its entries to a fatbin, in place, so that damage is detected.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "error_report.hpp"
#include "fatbin/entry_digests.hpp"
#include "fatbin/entry_facts.hpp"
#include "fatlink/fatbin.hpp"
#include "util/files/output_file.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

struct digest_arguments {
  std::vector<std::string> files;
  bool json = false;
};

/// @throws file_error the sidecar of `input` states the digest of the unchanged file.
void refuse_stated_digest(fatbin const& input)
{
  auto const& sidecar = entry_access::sidecar_of(input);
  if (!detail::stated_sha256(sidecar)) return;
  auto const& json = sidecar->name();
  throw file_error(
      stage::fatbin,
      {.message = fmt::format("{}: {} states the sha256 of the unchanged file", input.name(), json),
       .input = input.name(),
       .code = error_code::digest_in_sidecar,
       .hint = fmt::format("the file needs no digests, because {} verifies it; to add them, remove "
                           "\"sha256\" from {}",
                           json, json)});
}

void replace_file(std::filesystem::path const& path, bytes_view bytes)
{
  output_file file(std::filesystem::canonical(path));  // the target of a symbolic link
  file.write(bytes);
  file.commit();
}

nlohmann::json add_digests(std::string const& path)
{
  auto const input = fatbin::read(path);
  refuse_stated_digest(input);
  auto const result = fatbin::from_bytes(detail::add_digests(input.bytes(), path), path);
  replace_file(path, result.bytes());
  auto entries = nlohmann::json::array();
  for (auto const& entry : result.entries())
    entries.push_back(detail::describe_entry(result.bytes(), entry));
  return {{"file", path}, {"bytes", result.bytes().size()}, {"entries", entries}};
}

int digest(digest_arguments const& arguments)
{
  auto files = nlohmann::json::array();
  for (auto const& path : arguments.files) files.push_back(add_digests(path));
  if (arguments.json)
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
  auto arguments = std::make_shared<digest_arguments>();
  auto* verb = app.add_subcommand("digest", "Add digests to fatbins, so that damage is detected.");
  verb->add_option("FATBIN", arguments->files, "files to rewrite")->required();
  verb->add_flag("--json", arguments->json, k_json_help);
  verb->footer(
      "Example: fatlink digest half.fatbin\n"
      "The ident of every entry then holds digests of all entries. Every command refuses a fatbin\n"
      "that does not match its digests, with exit status 3. The CMake function fatlink_add_fatbin\n"
      "adds digests after each build.");
  verb->callback([arguments, &exit_status] { exit_status = digest(*arguments); });
}

}  // namespace fatlink::cli
