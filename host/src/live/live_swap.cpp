// SPDX-License-Identifier: Apache-2.0
#include "live/live_swap.hpp"

#include <utility>

#include "device/device_checks.hpp"
#include "fatlink/live_swap.hpp"
#include "live/versions.hpp"
#include "util/process/stopwatch.hpp"
#include "util/process/tool_range.hpp"

namespace fatlink {

char const* to_string(swap_tier tier) noexcept
{
  switch (tier) {
    case swap_tier::only:
      return "only";
    case swap_tier::first:
      return "first";
    case swap_tier::best:
      return "best";
  }
  return "unknown";
}

}  // namespace fatlink

namespace fatlink::detail {

read_inputs find_inputs(std::vector<std::string> const& names)
{
  read_inputs result;
  stopwatch watch;
  for (auto const& name : names) result.inputs.push_back(input::find(name));
  result.ms = watch.lap();
  return result;
}

kept_arguments::kept_arguments(std::span<call_argument const> arguments)
{
  for (auto const& argument : arguments) {
    names_.emplace_back(argument.name());
    void const* value = nullptr;
    if (argument.has_outside_value()) {
      auto const* const bytes = static_cast<std::byte const*>(argument.value());
      value = values_.emplace_back(bytes, bytes + argument.element_bytes()).data();
    }
    arguments_.push_back(argument.with_storage(names_.back(), value));
  }
}

namespace {

/// What has an effect in a mode that compiles nothing.
link_options quick_options(link_options const& options, device const& destination)
{
  auto const mode = destination.info().kind == device_kind::gpu ? link_mode::sass : link_mode::ptx;
  auto quick = destination.link_options(mode);
  quick.target = options.target;
  quick.whole_archive = options.whole_archive;
  quick.kernels = options.kernels;
  quick.driver_cache = options.driver_cache;
  return quick;
}

void check_tiers(bool is_tiered, link_options const& options)
{
  if (is_tiered && options.mode != link_mode::lto)
    fail_use(std::string("a tiered swap ends with an lto link; <link_options::mode> is ") +
                 to_string(options.mode),
             "<link_options::mode>", "set <link_mode::lto>, or <live_settings::tiered> to false");
}

}  // namespace

swapper::swapper(device destination, linker links, live_settings settings, support_callers support)
    : device_(std::move(destination)),
      linker_(std::move(links)),
      settings_(std::move(settings)),
      support_(std::move(support)),
      versions_(device_.backend())
{
  if (settings_.link) check_tiers(settings_.tiered, *settings_.link);
}

link_options swapper::options_of(std::optional<link_options> const& options) const
{
  auto const& chosen = options ? options : settings_.link;
  if (!chosen) return device_.link_options(link_mode::lto);
  check_tiers(settings_.tiered, *chosen);
  return *chosen;
}

swapper::timed_image swapper::link(std::vector<input> const& inputs, link_options const& options)
{
  stopwatch watch;
  auto image = linker_.link(inputs, options);
  return {std::move(image), watch.lap()};
}

std::optional<swapper::timed_image> swapper::link_quickly(swap_request const& request,
                                                          std::string& reason)
try {
  return link(request.inputs, quick_options(request.link, device_));
} catch (error const& refusal) {
  reason = refusal.what();
  return std::nullopt;
}

swap_report swapper::swap(swap_request request)
{
  tool_range const range("swap");
  stopwatch watch;
  std::unique_lock const lock(order_);
  swap_report report{.times = {.wait_ms = watch.lap(), .read_ms = request.read_ms}};
  if (settings_.tiered) {
    if (auto quick = link_quickly(request, report.single_tier_reason)) {
      report.tier = swap_tier::first;
      auto best = best_job(request);
      report = publish(request, std::move(*quick), std::move(report));
      best_.start(std::move(best));
      return report;
    }
  }
  auto linked = link(request.inputs, request.link);
  return publish(request, std::move(linked), std::move(report));
}

swap_report swapper::publish(swap_request const& request, timed_image linked, swap_report report)
{
  report.mode = linked.image.mode;
  report.cache = linked.image.cache;
  report.warnings = linked.image.warnings;
  report.times.check_ms = linked.image.times.preflight_ms;
  report.times.link_ms = linked.ms - linked.image.times.preflight_ms;
  stopwatch watch;
  auto version = versions_.make_version(request.load(std::move(linked.image)));
  {
    auto const lock = lock_callers();
    support_(*version->content);
  }
  report.times.load_ms = watch.lap();
  if (request.verify) request.verify(*version->content);
  report.times.verify_ms = watch.lap();
  {
    auto const lock = lock_callers();
    support_(*version->content);  // of what callers got in the meantime
    report.version = versions_.publish(std::move(version));
  }
  report.times.publish_ms = watch.lap();
  ++generation_;
  std::lock_guard const lock(results_);
  newest_report_ = report;
  best_error_ = nullptr;
  return report;
}

/// The job after the next publication. Whatever can fail fails here.
std::function<void()> swapper::best_job(swap_request const& request)
{
  best_.start_thread();
  return [this, request, generation = generation_ + 1] { publish_best(request, generation); };
}

/// A swap that was made during the link, or is made before this can take the lock, replaces it.
void swapper::publish_best(swap_request const& request, std::uint64_t generation)
{
  tool_range range("swap");
  tier_result result{.report = {.tier = swap_tier::best}};
  std::optional<timed_image> linked;
  try {
    linked = link(request.inputs, request.link);
  } catch (...) {
    result.error = std::current_exception();
  }
  {
    stopwatch watch;
    std::unique_lock const lock(order_);
    if (generation != generation_) return;
    result.report.times.wait_ms = watch.lap();
    if (linked) try {
        result.report = publish(request, std::move(*linked), std::move(result.report));
      } catch (...) {
        result.error = std::current_exception();
      }
    if (result.error) {
      std::lock_guard const results(results_);
      best_error_ = result.error;
    }
  }
  range.end();
  if (auto const report = settings_.on_best) report(result);  // may destroy this
}

swap_report swapper::wait_for_best() const
{
  best_.wait();
  std::lock_guard const lock(results_);
  if (best_error_) std::rethrow_exception(best_error_);
  if (newest_report_.version == 0) fail_unpublished();
  return newest_report_;
}

}  // namespace fatlink::detail
