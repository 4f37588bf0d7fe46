// SPDX-License-Identifier: Apache-2.0
// fatlink pack: writes one fatbin from several files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "compile/source_inputs.hpp"
#include "error_report.hpp"
#include "fatbin/contract_identity.hpp"
#include "fatbin_files.hpp"
#include "installed.hpp"
#include "options.hpp"
#include "pack/pack_fatbins.hpp"
#include "pack/packed_sidecar.hpp"
#include "preflight/symbols.hpp"
#include "util/bytes/sha256.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

constexpr std::size_t k_package_bytes = 256;

struct pack_arguments {
  std::vector<std::string> files;
  compile_flags sources;
  std::string output;
  std::string package;
  bool json = false;
};

/// Idents state packages in messages.
void check_package(std::string const& text)
{
  constexpr std::string_view k_characters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-.:~_";
  auto const space = text.find(' ');
  auto const version = space == std::string::npos ? std::string("0") : text.substr(space + 1);
  auto const is_word = [&](std::string_view word) {
    return !word.empty() && word.find_first_not_of(k_characters) == std::string_view::npos;
  };
  if (text.size() > k_package_bytes || !is_word(text.substr(0, space)) || !is_word(version))
    fail_usage(fmt::format("--package: '{}' is not a name, or a name and a version", text), text,
               "write it as my-transforms or 'my-transforms 1.2.0'");
}

std::optional<std::string> find_packed_contract(fatbin const& packed)
{
  auto const& stated = packed.ident();
  if (!stated || stated->contract.empty()) return std::nullopt;
  return detail::contract_of(*stated);
}

nlohmann::json packed_to_json(packed_fatbin const& packed, pack_arguments const& arguments)
{
  auto entries = nlohmann::json::array();
  for (std::size_t index = 0; index < packed.files.size(); ++index) {
    auto const& entry = packed.contents.entries()[index];
    entries.push_back({{"kind", name_of(entry.kind)},
                       {"target", entry.target.name()},
                       {"stored_bytes", entry.payload.size()},
                       {"file", packed.files[index]}});
  }
  nlohmann::json json{{"output", arguments.output},
                      {"bytes", packed.contents.bytes().size()},
                      {"sha256", detail::to_hexadecimal(packed.contents.digest())},
                      {"entries", entries},
                      {"warnings", packed.warnings}};
  if (auto const contract = find_packed_contract(packed.contents)) json["contract"] = *contract;
  if (has_sidecar(arguments.output)) json["sidecar"] = packed_sidecar(arguments.output).string();
  return json;
}

void print_packed(packed_fatbin const& packed, std::string const& output)
{
  std::vector<std::string> names;
  for (auto const& entry : packed.contents.entries())
    names.push_back(fmt::format("{}:{}", name_of(entry.kind), entry.target.name()));
  fmt::print("{}: {}, contract {}, {} bytes\n", output, fmt::join(names, " "),
             find_packed_contract(packed.contents).value_or("none"),
             packed.contents.bytes().size());
}

int pack(pack_arguments const& arguments)
{
  if (!arguments.package.empty()) check_package(arguments.package);
  std::vector<std::filesystem::path> inputs;
  for (auto const& file : arguments.files) inputs.push_back(input_file(file));
  check_fatbin_output(arguments.output, inputs, arguments.json);
  compile_report compiles;
  auto const files = read_inputs(arguments.files, arguments.sources, &compiles);
  keep_headers(compiles.headers, {arguments.output, sidecar_name(arguments.output)});
  auto packed = pack_fatbins(detail::modules_of(files),
                             {.name = arguments.output, .package = arguments.package});
  write_fatbin_files(packed.contents, arguments.output, inputs, sidecar_precedence::output,
                     packed.warnings);
  print_warnings(packed.warnings);
  if (arguments.json)
    print_json("fatlink.pack/1", packed_to_json(packed, arguments));
  else
    print_packed(packed, arguments.output);
  return k_done;
}

}  // namespace

void add_pack(CLI::App& app, int& exit_status)
{
  auto arguments = std::make_shared<pack_arguments>();
  auto* verb = app.add_subcommand(
      "pack", "Write one fatbin from files of one source, compiled for several architectures.");
  verb->add_option("INPUT", arguments->files, "names, or files of any form")->required();
  verb->add_option("-o,--output", arguments->output,
                   "fatbin to write; its sidecar is written beside it; -: standard output")
      ->type_name("FILE.fatbin")
      ->required();
  verb->add_option("--package", arguments->package,
                   "package that ships the fatbin: 'NAME VERSION' or NAME")
      ->type_name("PACKAGE");
  add_source_flags(*verb, arguments->sources);
  verb->add_flag("--json", arguments->json, k_json_help);
  verb->footer(
      "Example: fatlink pack -o half.fatbin half_75.fatbin half_90a.fatbin\n"
      "Entries stay as they are stored; two entries of one kind and architecture, and files that\n"
      "define different functions, are refused. The ident states what all files state, and "
      "digests.");
  verb->callback([arguments, &exit_status] { exit_status = pack(*arguments); });
}

}  // namespace fatlink::cli
