// SPDX-License-Identifier: Apache-2.0
#include "run/run_links.hpp"

#include <algorithm>
#include <optional>
#include <system_error>

#include "code_report.hpp"
#include "device/devices.hpp"
#include "error_report.hpp"
#include "fatlink/preflight.hpp"
#include "linker/check_arguments.hpp"
#include "preflight/symbols.hpp"
#include "util/process/stopwatch.hpp"

namespace fatlink::cli {
namespace {

/// What the driver says of a GPU before it has a context. Empty if there is no such GPU:
/// open_device throws the error.
std::optional<device_info> describe_gpu(std::string const& name)
{
  if (name.starts_with("cpu")) return std::nullopt;
  auto const ordinal = static_cast<std::size_t>(detail::parse_ordinal(name));
  std::string reason;
  auto const gpus = list_gpus(reason);
  if (ordinal >= gpus.size()) return std::nullopt;
  return gpus[ordinal];
}

/// Not valid if there can be no thread.
std::future<std::shared_ptr<device>> open_in_thread(std::string const& name,
                                                    cpu_options const& options)
try {
  return std::async(std::launch::async, [name, options] { return open_device(name, options); });
} catch (std::system_error const&) {
  return {};
}

preflight_request make_request(run_links const& job, link_mode mode)
{
  auto options = job.flags.options;
  if (job.flags.has_sources) complete_float_flags(options, mode);
  options.mode = mode;
  options.kernels = job.launched;
  return detail::request_of(options);
}

link_options make_options(run_links const& job, link_mode mode, device_info const& info)
{
  auto flags = job.flags.for_mode(mode, job.modes);
  flags.options.kernels = job.kept;
  return flags.make_options(info.target, mode, info.image_for(mode));
}

}  // namespace

void device_choice::choose()
{
  if (!name_.empty()) return;
  detail::stopwatch watch;
  name_ = list_gpus(no_gpu_reason_).empty() ? "cpu" : "gpu";
  ms_ += watch.lap();
}

bool device_choice::is_reference_device()
{
  choose();
  return name_.find("cpu") != std::string::npos;
}

device_info device_choice::begin_open(cpu_options const& options)
{
  choose();
  detail::stopwatch watch;
  auto info = describe_gpu(name_);
  if (info) opening_ = open_in_thread(name_, options);
  if (!opening_.valid()) {
    opened_ = open_device(name_, options);
    info = opened_->info();
  }
  ms_ += watch.lap();
  return *info;
}

opened_devices device_choice::finish_open(cpu_options const& options)
{
  detail::stopwatch watch;
  opened_devices devices;
  if (is_list()) {
    devices = open_devices(name_, options);
  } else {
    if (opening_.valid()) opened_ = opening_.get();
    devices.push_back({.device = name_, .value = opened_});
  }
  ms_ += watch.lap();
  return devices;
}

void refuse_sass_without_gpu(run_links const& job, device_choice& choice)
{
  auto const needs_sass = job.modes.front() == link_mode::sass;
  if (!needs_sass && std::ranges::none_of(job.modules, detail::is_sass_only)) return;
  if (!choice.is_reference_device()) return;
  if (needs_sass)
    throw unavailable_error(stage::device, {.message = "the reference device runs PTX, not SASS",
                                            .input = job.modules.front().name(),
                                            .code = error_code::needs_gpu,
                                            .hint = "run it on a GPU: --device gpu"});
  detail::check_reference_device(job.modules);
}

void check_inputs(run_links const& job)
{
  for (auto const mode : job.modes)
    if (auto findings = preflight_any_target(job.modules, make_request(job, mode));
        !findings.empty())
      throw refused_error(std::move(findings));
}

void check_options(run_links const& job, device_info const& info, bool resources)
try {
  for (auto const mode : job.modes) (void)make_options(job, mode, info);
  if (resources && info.kind == device_kind::cpu)
    refuse_resources("on the reference device, which runs PTX", "run on a GPU: --device gpu");
} catch (usage_error const& failure) {
  auto details = failure.details();
  if (details.code != error_code::option_has_no_effect || info.kind != device_kind::cpu) throw;
  // The reference device takes PTX only, whatever the mode.
  for (auto const* const remedy : {"emit a cubin for a GPU: --emit cubin", "link for a GPU"})
    if (auto const position = details.hint.find(remedy); position != std::string::npos)
      details.hint.replace(position, std::string::npos, "run on a GPU: --device gpu");
  throw usage_error(details);
}

detail::shared_links share_links(run_links const& job)
{
  return detail::shared_links(
      [&job, linker = job.flags.linker()](device_info const& info, link_mode mode) {
        auto copy = linker;  // copies share everything
        return copy.link(job.inputs, make_options(job, mode, info));
      });
}

}  // namespace fatlink::cli
