// SPDX-License-Identifier: Apache-2.0
// fatlink link: writes a linked image.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "defaults.hpp"
#include "failure.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/output_file.hpp"
#include "link_settings.hpp"
#include "options.hpp"
#include "report.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

struct arguments {
  std::vector<std::string> inputs;
  std::string target;
  std::string mode = "lto";
  std::string emit = "cubin";
  std::string kernel;
  std::string output;
  link_settings link;
  bool json = false;
};

nlohmann::json to_json(linked_image const& image, double read_ms, std::string const& output)
{
  nlohmann::json hooks = nlohmann::json::array();
  for (auto const& hook : image.hooks)
    hooks.push_back({{"name", hook.name}, {"inlined", hook.inlined}});
  return {{"output", output},
          {"kind", to_string(image.kind)},
          {"target", image.target.name()},
          {"mode", to_string(image.mode)},
          {"bytes", image.bytes.size()},
          {"hooks", hooks},
          {"inlined", image.inlined()},
          {"cache", to_string(image.cache)},
          {"link_ms", image.link_ms},
          {"start_ms", start_of(image, read_ms)},
          {"warnings", image.warnings}};
}

void print_text(linked_image const& image, std::string const& output)
{
  fmt::print("{}: {} for {}, {} link, {} bytes", output, to_string(image.kind), image.target.name(),
             to_string(image.mode), image.bytes.size());
  for (auto const& hook : image.hooks)
    fmt::print(", {} {}", hook.name, hook.inlined ? "inlined" : "called");
  if (image.cache == cache_outcome::hit) fmt::print(", from the cache");
  fmt::print("\n");
}

void must_not_overwrite(arguments const& given)
{
  std::error_code ignored;
  for (auto const& input : given.inputs)
    if (std::filesystem::equivalent(fatbin_file(input), given.output, ignored))
      throw usage_error(stage::input, {.message = fmt::format("{} is an input, too", given.output),
                                       .input = given.output,
                                       .code = {},
                                       .log = {},
                                       .hint = "name another file with --output"});
}

int link(arguments const& given)
{
  link_options const options{.target = given.target,
                             .mode = parse_link_mode(given.mode),
                             .emit = given.emit == "ptx" ? image_kind::ptx : image_kind::cubin,
                             .kernel = given.kernel,
                             .require_inlined = given.link.require_inlined};
  auto const start = std::chrono::steady_clock::now();
  auto const inputs = read_fatbins(given.inputs);
  auto const read_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  must_not_overwrite(given);
  output_file output(given.output);
  auto const image = given.link.linker().link(inputs, options);
  output.write(image.bytes);
  output.commit();
  print_warnings(image.warnings);
  if (given.json)
    print_json(to_json(image, read_ms, given.output));
  else
    print_text(image, given.output);
  return k_done;
}

}  // namespace

void add_link(CLI::App& app, int& exit_status)
{
  auto given = std::make_shared<arguments>();
  auto* verb = app.add_subcommand("link", "Link fatbins and write the image. Needs no GPU.");
  verb->add_option("FATBIN", given->inputs,
                   "the library's fatbin, then the transforms'; names or files")
      ->required();
  verb->add_option("--target", given->target, "GPU architecture: sm_90, sm_90a")->required();
  add_choice(*verb, "--mode", given->mode, {"ptx", "lto"}, "ptx or lto");
  add_choice(*verb, "--emit", given->emit, {"cubin", "ptx"}, "cubin or ptx (lto mode only)");
  verb->add_option("--kernel", given->kernel, "refuse inputs without this kernel");
  verb->add_option("-o,--output", given->output, "file to write")->required();
  add_link_settings(*verb, given->link);
  verb->add_flag("--json", given->json, "one JSON object on standard output");
  verb->footer(
      "Example: fatlink link --target sm_90 -o out.cubin apply_transform.fatbin relu_poly.fatbin");
  verb->callback([given, &exit_status] { exit_status = link(*given); });
}

}  // namespace fatlink::cli
