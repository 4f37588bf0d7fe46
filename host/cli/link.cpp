// SPDX-License-Identifier: Apache-2.0
// fatlink link: writes a linked image.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "code_report.hpp"
#include "error_report.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/resources.hpp"
#include "installed.hpp"
#include "link_flags.hpp"
#include "linker/image_functions.hpp"
#include "options.hpp"
#include "run/run_report.hpp"
#include "source_inputs.hpp"
#include "terminal/streams.hpp"
#include "util/files/output_file.hpp"
#include "util/process/stopwatch.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

struct link_arguments {
  std::vector<std::string> inputs;
  std::vector<std::string> targets;
  std::string mode = "lto";
  std::string emit = "cubin";
  std::string output;
  link_flags link;
  bool resources = false;
  bool json = false;
};

nlohmann::json image_to_json(linked_image const& image, double read_ms, std::string const& output)
{
  nlohmann::json hooks = nlohmann::json::array();
  for (auto const& hook : image.hooks)
    hooks.push_back({{"name", hook.name}, {"inlined", hook.inlined}, {"default", hook.is_default}});
  return {{"output", output},
          {"kind", to_string(image.kind)},
          {"target", image.target.name()},
          {"mode", to_string(image.mode)},
          {"bytes", image.bytes.size()},
          {"hooks", hooks},
          {"inlined", image.inlined()},
          {"cache", to_string(image.cache)},
          {"link_ms", image.link_ms},
          {"start_ms", describe_start(image, read_ms)},
          {"warnings", image.warnings}};
}

/// @throws usage_error --resources with an image that states none.
void check_resources(link_arguments const& arguments)
{
  if (!arguments.resources || arguments.emit == "cubin") return;
  refuse_resources(arguments.emit == "ptx" ? "on emitted PTX" : "on an image that is not complete",
                   "leave out --emit " + arguments.emit);
}

void print_image(linked_image const& image, std::string const& output)
{
  fmt::print("{}: {} for {}, {} link, {} bytes", output, to_string(image.kind), image.target.name(),
             to_string(image.mode), image.bytes.size());
  for (auto const& hook : image.hooks) {
    auto const is_slow = image.mode == link_mode::lto && !hook.is_default && !hook.inlined;
    fmt::print(", {} {}", hook.name,
               is_slow ? colored(meaning::warning, to_string(hook)) : to_string(hook));
  }
  if (image.cache == cache_outcome::hit) fmt::print(", from the cache");
  fmt::print("\n");
}

constexpr std::string_view k_target_field = "{target}";

bool is_pattern(std::string const& output)
{
  return output.find(k_target_field) != std::string::npos;
}

/// "out.{target}.cubin" for "out.cubin".
std::string make_pattern(std::filesystem::path const& output)
{
  auto name = output.stem().string() + "." + std::string(k_target_field);
  return (output.parent_path() / name).string() + output.extension().string();
}

std::string make_path(target const& target, std::string pattern)
{
  for (std::size_t position = 0;
       (position = pattern.find(k_target_field, position)) != std::string::npos;)
    pattern.replace(position, k_target_field.size(), target.name());
  return pattern;
}

/// A target, its image, and the file to write.
struct linked_file {
  fatlink::target target;
  std::string path;
  std::unique_ptr<output_file> output;
  linked_image image = {};
};

/// Opens all files before anything is linked.
std::vector<linked_file> open_files(link_arguments const& arguments)
{
  check_output(arguments.output, arguments.json);
  auto const targets = parse_targets(arguments.targets);
  if (targets.size() > 1 && !is_pattern(arguments.output))
    fail_usage(
        fmt::format("{}: a single file for {} targets", arguments.output, targets.size()),
        arguments.output,
        fmt::format("put {{target}} into its name: --output '{}'",
                    make_pattern(is_stream(arguments.output) ? "out.cubin" : arguments.output)));
  std::vector<std::filesystem::path> inputs;
  for (auto const& input : arguments.inputs) inputs.push_back(input_file(input));
  std::vector<linked_file> files;
  for (auto const& target : targets) {
    auto path = make_path(target, arguments.output);
    if (!is_standard_output(path)) must_not_overwrite(inputs, path);
    files.push_back({.target = target, .path = path, .output = create_output(path)});
  }
  return files;
}

void report_files(std::vector<linked_file> const& files, link_arguments const& arguments,
                  double read_ms)
{
  auto images = nlohmann::json::array();
  for (auto const& file : files) {
    auto const kernels =
        arguments.resources ? describe_resources(resources(file.image)) : nlohmann::json::array();
    if (arguments.json) {
      images.push_back(image_to_json(file.image, read_ms, file.path));
      if (arguments.resources) images.back()["resources"] = kernels;
    } else {
      print_image(file.image, file.path);
      print_resources(kernels, "  ");
    }
  }
  if (arguments.json)
    print_json("fatlink.link/1",
               is_pattern(arguments.output) ? nlohmann::json{{"images", images}} : images[0]);
}

void warn_without_kernel(linked_image& image)
{
  if (image.kind != image_kind::cubin && image.kind != image_kind::ptx) return;
  if (detail::symbols_in(image.kind, image.bytes).kernels.empty())
    image.warnings.emplace_back(
        "the linked image has no kernel: none of the inputs is a library; pass the library first");
}

image_kind parse_image_kind(std::string_view emit)
{
  for (auto const kind : {image_kind::ptx, image_kind::ltoir, image_kind::relocatable})
    if (emit == to_string(kind)) return kind;
  return image_kind::cubin;
}

link_options make_options(target target, link_arguments const& arguments)
{
  return arguments.link.make_options(target, parse_link_mode(arguments.mode),
                                     parse_image_kind(arguments.emit));
}

int link(link_arguments const& arguments)
{
  (void)make_options({}, arguments);  // before a file is read or opened
  check_resources(arguments);
  detail::stopwatch watch;
  compile_report compiles;
  auto const inputs = read_inputs(arguments.inputs, arguments.link.source_flags(), &compiles);
  auto const read_ms = watch.lap();
  auto files = open_files(arguments);
  for (auto const& file : files) keep_headers(compiles.headers, {file.path});
  auto linker = arguments.link.linker();
  for (auto& file : files) {
    file.image = linker.link(inputs, make_options(file.target, arguments));
    warn_without_kernel(file.image);
    print_warnings(file.image.warnings);
    file.image.warnings.insert(file.image.warnings.begin(), compiles.warnings.begin(),
                               compiles.warnings.end());
    file.output->write(file.image.bytes);
  }
  for (auto& file : files) file.output->commit();
  report_files(files, arguments, read_ms);
  return k_done;
}

}  // namespace

void add_link(CLI::App& app, int& exit_status)
{
  auto arguments = std::make_shared<link_arguments>();
  auto* verb =
      app.add_subcommand("link", "Link inputs and write the linked image. A GPU is not required.");
  verb->add_option("INPUT", arguments->inputs, k_inputs_help)->required();
  add_targets(*verb, arguments->targets, "GPU architectures, separated by commas",
              "; several require {target} in --output")
      ->required();
  add_choice(*verb, "--mode", arguments->mode, {"ptx", "lto", "sass"},
             "link mode; sass: cubins for exactly the target, without a compiler");
  add_choice(*verb, "--emit", arguments->emit, {"cubin", "ptx", "ltoir", "relocatable"},
             "kind of image; ptx and ltoir require lto mode; ltoir and relocatable write a fatbin "
             "for a later link, and hooks may be missing (they require nvJitLink 13.4 and 13.1)");
  add_kernels(
      *verb, arguments->link.options.kernels,
      "keep only this kernel and those whose names contain its name; an input must define it");
  verb->add_option("-o,--output", arguments->output,
                   "file to write; -: standard output; with {target} in the name, one file is "
                   "written for each target")
      ->type_name("FILE")
      ->required();
  add_link_flags(*verb, arguments->link);
  add_link_offline(*verb, arguments->link);
  add_resources(*verb, arguments->resources);
  verb->add_flag("--json", arguments->json, k_json_help);
  verb->footer(
      "Example: fatlink link --target sm_90 -o out.cubin apply_transform.fatbin relu_poly.fatbin");
  verb->callback([arguments, &exit_status] {
    arguments->link.note_inputs(arguments->inputs);
    exit_status = link(*arguments);
  });
}

}  // namespace fatlink::cli
