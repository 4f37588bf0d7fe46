// SPDX-License-Identifier: Apache-2.0
// fatlink pack: combines fatbins of one translation unit into one. Threads: no shared state.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "code_report.hpp"
#include "error_report.hpp"
#include "fatbins/fatbin_output.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/preflight.hpp"
#include "input/find_sidecar.hpp"
#include "installed.hpp"
#include "options.hpp"
#include "preflight/pack_fatbins.hpp"
#include "preflight/symbols.hpp"
#include "source_inputs.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

struct pack_arguments {
  std::vector<std::string> files;
  compile_flags sources;
  std::string output;
  std::string package;
  bool json = false;
};

nlohmann::json packed_to_json(detail::packed_fatbin const& packed, std::string const& output)
{
  auto json = describe_output(packed.contents, output, packed.warnings);
  for (std::size_t index = 0; index < packed.files.size(); ++index)
    json["entries"][index]["file"] = packed.files[index];
  return json;
}

void print_packed(fatbin const& packed, std::string const& output)
{
  fmt::print("{}: {}, contract {}, {} bytes\n", output, entry_names(packed, " "),
             contract_name(packed), packed.bytes().size());
}

int pack(pack_arguments const& arguments)
{
  if (!arguments.package.empty()) detail::check_package(arguments.package);
  std::vector<std::filesystem::path> inputs;
  for (auto const& file : arguments.files) inputs.push_back(input_file(file));
  check_fatbin_output(arguments.output, inputs, arguments.json);
  compile_report compiles;
  auto const files = read_inputs(arguments.files, arguments.sources, &compiles);
  keep_headers(compiles.headers,
               {arguments.output, detail::packed_sidecar(arguments.output).string()});
  auto packed = detail::pack_fatbins(detail::modules_of(files),
                                     {.name = arguments.output, .package = arguments.package});
  std::vector<detail::sidecar_ptr> sidecars;
  for (auto const& file : files) sidecars.push_back(detail::sidecar_of(file));
  write_fatbin_files(packed.contents, arguments.output, sidecars,
                     detail::sidecar_precedence::output, packed.warnings);
  print_warnings(packed.warnings);
  if (arguments.json)
    print_json("fatlink.pack/1", packed_to_json(packed, arguments.output));
  else
    print_packed(packed.contents, arguments.output);
  return k_done;
}

}  // namespace

void add_pack(CLI::App& app, int& exit_status)
{
  auto arguments = std::make_shared<pack_arguments>();
  auto* verb = app.add_subcommand(
      "pack", "Write one fatbin from files of one source for several architectures.");
  verb->add_option("INPUT", arguments->files, "installed names or files of any form")->required();
  add_fatbin_output(*verb, arguments->output);
  verb->add_option("--package", arguments->package,
                   "package that ships the fatbin: 'NAME VERSION' or NAME")
      ->type_name("PACKAGE");
  add_source_flags(*verb, arguments->sources);
  verb->add_flag("--json", arguments->json, k_json_help);
  verb->footer(
      "Example: fatlink pack -o half.fatbin half_75.fatbin half_90a.fatbin\n"
      "Entries are copied unchanged. Two entries of one kind and architecture are refused, as are\n"
      "files that define different functions. The ident has what all files state, and digests.");
  verb->callback([arguments, &exit_status] { exit_status = pack(*arguments); });
}

}  // namespace fatlink::cli
