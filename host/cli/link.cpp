// SPDX-License-Identifier: Apache-2.0
// fatlink link: writes a linked image.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "error_report.hpp"
#include "fatlink/linker.hpp"
#include "installed.hpp"
#include "link_flags.hpp"
#include "options.hpp"
#include "run/run_report.hpp"
#include "targets.hpp"
#include "terminal/streams.hpp"
#include "util/files/output_file.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

struct arguments {
  std::vector<std::string> inputs;
  std::vector<std::string> targets;
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

constexpr std::string_view k_target_field = "{target}";

bool is_pattern(std::string const& output)
{
  return output.find(k_target_field) != std::string::npos;
}

/// "out.cubin": "out.{target}.cubin".
std::string pattern_like(std::filesystem::path const& output)
{
  auto name = output.stem().string() + "." + std::string(k_target_field);
  return (output.parent_path() / name).string() + output.extension().string();
}

std::string path_for(target const& wanted, std::string pattern)
{
  for (std::size_t at = 0; (at = pattern.find(k_target_field, at)) != std::string::npos;)
    pattern.replace(at, k_target_field.size(), wanted.name());
  return pattern;
}

/// A target's image and the file that it will be in.
struct linked_file {
  fatlink::target target;
  std::string path;
  std::unique_ptr<output_file> file;
  linked_image image = {};
};

/// All files are opened before anything is linked.
std::vector<linked_file> open_files(arguments const& given)
{
  check_output(given.output, given.json);
  auto const targets = parse_targets(given.targets);
  if (targets.size() > 1 && !is_pattern(given.output))
    fail_usage(fmt::format("{}: one file for {} targets", given.output, targets.size()),
               given.output,
               fmt::format("put the target into its name: --output '{}'",
                           pattern_like(is_stream(given.output) ? "out.cubin" : given.output)));
  std::vector<std::filesystem::path> inputs;
  for (auto const& input : given.inputs) inputs.push_back(fatbin_file(input));
  std::vector<linked_file> files;
  for (auto const& wanted : targets) {
    auto path = path_for(wanted, given.output);
    if (!is_standard_output(path)) must_not_overwrite(inputs, path);
    files.push_back({.target = wanted, .path = path, .file = create_output(path)});
  }
  return files;
}

void report(std::vector<linked_file> const& files, arguments const& given, double read_ms)
{
  auto images = nlohmann::json::array();
  for (auto const& one : files) {
    if (given.json)
      images.push_back(to_json(one.image, read_ms, one.path));
    else
      print_text(one.image, one.path);
  }
  if (given.json)
    print_json("fatlink.link/1",
               is_pattern(given.output) ? nlohmann::json{{"images", images}} : images[0]);
}

int link(arguments const& given)
{
  auto const start = std::chrono::steady_clock::now();
  auto const inputs = read_fatbins(given.inputs);
  auto const read_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  auto files = open_files(given);
  auto linker = given.link.linker();
  for (auto& one : files) {
    one.image =
        linker.link(inputs, {.target = one.target,
                             .mode = parse_link_mode(given.mode),
                             .emit = given.emit == "ptx" ? image_kind::ptx : image_kind::cubin,
                             .kernel = given.kernel,
                             .require_inlined = given.link.require_inlined});
    print_warnings(one.image.warnings);
    one.file->write(one.image.bytes);
  }
  for (auto& one : files) one.file->commit();
  report(files, given, read_ms);
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
  add_targets(
      *verb, given->targets,
      "GPU architecture: sm_90, sm_90a; native: this machine's; several, with commas, or all, "
      "with {target} in --output")
      ->required();
  add_choice(*verb, "--mode", given->mode, {"ptx", "lto"}, "ptx or lto");
  add_choice(*verb, "--emit", given->emit, {"cubin", "ptx"}, "cubin or ptx (lto mode only)");
  verb->add_option("--kernel", given->kernel, "refuse inputs without this kernel");
  verb->add_option(
          "-o,--output", given->output,
          "file to write; -: standard output; {target} in its name: a file for each target")
      ->required();
  add_link_settings(*verb, given->link);
  verb->add_flag("--json", given->json, "one JSON object on standard output");
  verb->footer(
      "Example: fatlink link --target sm_90 -o out.cubin apply_transform.fatbin relu_poly.fatbin");
  verb->callback([given, &exit_status] { exit_status = link(*given); });
}

}  // namespace fatlink::cli
