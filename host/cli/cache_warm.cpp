// SPDX-License-Identifier: Apache-2.0
#include "cache_warm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "compile/source_inputs.hpp"
#include "error_report.hpp"
#include "fatlink/cache.hpp"
#include "fatlink/launch_plan.hpp"
#include "fatlink/linker.hpp"
#include "installed.hpp"
#include "link_flags.hpp"
#include "option_flags.hpp"
#include "options.hpp"
#include "plan/check_plan.hpp"
#include "targets.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

struct warm_arguments {
  std::vector<std::string> inputs;
  std::vector<std::string> targets;
  std::string mode = "both";
  std::vector<std::string> emit{"cubin"};
  std::string layer;
  bool one_copy = false;
  link_flags link;
  bool json = false;
};

bool emits(warm_arguments const& arguments, std::string const& kind)
{
  return std::ranges::find(arguments.emit, kind) != arguments.emit.end();
}

[[noreturn]] void refuse_emit(std::string const& mode, char const* cause, char const* hint)
{
  throw usage_error({.message = fmt::format("--emit ptx with --mode {}: {}", mode, cause),
                     .input = "ptx",
                     .code = error_code::invalid_emit,
                     .hint = hint});
}

/// @throws usage_error no link would have one of `modes`, or emit one of the kinds asked for.
void check_emit(warm_arguments const& arguments, std::vector<link_mode> const& modes)
{
  auto const has_lto = std::ranges::find(modes, link_mode::lto) != modes.end();
  if (!has_lto && emits(arguments, "ptx"))
    refuse_emit(arguments.mode, "only lto mode emits PTX", "use --mode lto, or --emit cubin");
  if (modes.size() > 1 && !emits(arguments, "cubin"))
    refuse_emit(arguments.mode, "only lto mode emits PTX; nothing to link in ptx mode",
                "use --mode lto, or --emit cubin,ptx");
}

/// The requested links; PTX is emitted in lto mode only.
std::vector<link_options> make_link_options(warm_arguments const& arguments)
{
  std::vector<link_options> requests;
  auto const modes = parse_modes(arguments.mode);
  check_emit(arguments, modes);
  for (auto const& target : parse_targets(arguments.targets))
    for (auto const mode : modes)
      for (auto const& emit : arguments.emit) {
        if (emit == "ptx" && mode != link_mode::lto) continue;
        requests.push_back(
            arguments.link.for_mode(mode, modes)
                .make_options(target, mode, emit == "ptx" ? image_kind::ptx : image_kind::cubin));
      }
  return requests;
}

/// Of a library with a launch plan, which `run` and prepare() link with the plan's kernels only.
/// @throws file_error (invalid-plan) the plan is malformed.
void keep_plan_kernels(std::vector<input> const& inputs, std::vector<link_options>& requests)
{
  auto const plan = launch_plan::beside(inputs.front());
  if (!plan) return;
  for (auto& options : requests)
    if (options.kernels.empty()) options.kernels = detail::kernels_to_keep(*plan, inputs);
}

/// @throws file_error the cache did not store the link.
void check_stored(std::vector<input> const& inputs, link_options const& options)
{
  link_cache cache(default_cache_settings());
  auto const file = nvjitlink::locate();
  if (cache.find(link_key(inputs, options, file ? file->identity : "")) != nullptr) return;
  auto const folder = cache.settings().folder.string();
  throw file_error(
      stage::cache,
      {.message = fmt::format("the cache {} did not store the {} link for {}", folder,
                              to_string(options.mode), options.target.name()),
       .input = folder,
       .code = error_code::link_not_cached,
       .hint = "fatlink cache stats shows the cause; FATLINK_CACHE_LIMIT may be too small"});
}

int warm(warm_arguments const& arguments)
{
  auto requests = make_link_options(arguments);
  auto source_flags = arguments.link.source_flags();
  source_flags.layer = arguments.layer;
  auto const inputs = read_inputs(arguments.inputs, source_flags);
  keep_plan_kernels(inputs, requests);
  if (arguments.link.no_cache && arguments.layer.empty())
    throw usage_error({.message = "--no-cache without --layer: nothing to fill",
                       .input = "--no-cache",
                       .code = error_code::invalid_argument,
                       .hint = "remove --no-cache, or name a folder with --layer"});
  if (arguments.one_copy && arguments.layer.empty())
    throw usage_error({.message = "--one-copy without --layer: there is no layer",
                       .input = "--one-copy",
                       .code = error_code::invalid_argument,
                       .hint = "remove --one-copy, or name a folder with --layer"});
  auto const hosts = arguments.one_copy ? layer_hosts::unnamed : layer_hosts::all;
  auto linker = arguments.link.linker();
  auto rows = nlohmann::json::array();
  for (auto const& options : requests) {
    auto const image = arguments.layer.empty()
                           ? linker.link(inputs, options)
                           : linker.link_into(arguments.layer, inputs, options, hosts);
    print_warnings(image.warnings);
    if (arguments.layer.empty()) check_stored(inputs, options);
    rows.push_back({{"target", image.target.name()},
                    {"mode", to_string(image.mode)},
                    {"kind", to_string(image.kind)},
                    {"bytes", image.bytes.size()},
                    {"cache", to_string(image.cache)},
                    {"link_ms", image.link_ms}});
    if (!arguments.json)
      fmt::print("{:<8} {}  {:<5} {:>8} bytes  {}\n", image.target.name(), to_string(image.mode),
                 to_string(image.kind), image.bytes.size(), to_string(image.cache));
  }
  if (arguments.json) print_json("fatlink.cache-warm/1", {{"links", rows}});
  return k_done;
}

}  // namespace

void add_cache_warm(CLI::App& verb, int& exit_status)
{
  auto arguments = std::make_shared<warm_arguments>();
  auto* sub =
      verb.add_subcommand("warm", "Link in advance and store the images. A GPU is not required.");
  sub->add_option("INPUT", arguments->inputs,
                  "the library, then the transforms: names, or files of any form")
      ->required();
  add_targets(*sub, arguments->targets,
              "GPU architectures, separated by commas; native: of this machine; all: every one")
      ->required();
  add_mode(*sub, arguments->mode);
  add_kernels(*sub, arguments->link.options.kernels,
              "keep only this kernel, which an input must have (default: those of the "
              "library's launch plan, as run links it; without a plan all)");
  add_choices(
      *sub, "--emit", arguments->emit, {"cubin", "ptx"},
      "kind of image; the reference device requires ptx (lto mode only: with ptx alone, lto is "
      "the default mode); cubin,ptx: both");
  sub->add_option("--layer", arguments->layer,
                  "fill this folder, to be shipped as a read-only layer, with the links and the "
                  "compiles of sources")
      ->type_name("FOLDER");
  sub->add_flag("--one-copy", arguments->one_copy,
                "with --layer: half the size; where $FATLINK_NVJITLINK names an nvJitLink, it is "
                "not used");
  add_link_flags(*sub, arguments->link);
  sub->add_flag("--json", arguments->json, k_json_help);
  sub->footer(
      "Example: fatlink cache warm --target sm_80,sm_90 --emit cubin,ptx --layer "
      "share/fatlink/cache "
      "apply_transform.fatbin relu_poly.fatbin");
  sub->callback([arguments, sub, &exit_status] {
    if (sub->count("--mode") == 0 && !emits(*arguments, "cubin")) arguments->mode = "lto";
    arguments->link.note_inputs(arguments->inputs);
    exit_status = warm(*arguments);
  });
}

}  // namespace fatlink::cli
