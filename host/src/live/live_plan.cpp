// SPDX-License-Identifier: Apache-2.0
// Live plans. The plan of every version has the arguments of the first one, so that calls of one
// are calls of another.
#include "fatlink/live_plan.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "device/device_checks.hpp"
#include "fatlink/finding.hpp"
#include "fatlink/launch_plan.hpp"
#include "live/live_swap.hpp"
#include "live/versions.hpp"
#include "plan/check_plan.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

std::string describe_argument(plan_argument const& argument)
{
  return detail::format("{}{}{}{}", to_string(argument.role),
                        argument.type ? " of " + to_string(*argument.type) : std::string(),
                        argument.shape.size() > 1
                            ? detail::format(" in {} dimensions", argument.shape.size())
                            : std::string(),
                        argument.default_value ? " with a default" : "");
}

/// "n: size of int64, not value of int64"; empty if calls can pass the same.
std::string describe_difference(plan_argument const& first, plan_argument const* changed)
{
  if (changed == nullptr) return detail::format("has no argument {}", first.name);
  auto const expected = describe_argument(first);
  auto const actual = describe_argument(*changed);
  if (expected == actual) return {};
  return detail::format("has {} as {}, not as {}", first.name, actual, expected);
}

[[noreturn]] void fail_difference(launch_plan const& first, launch_plan const& changed,
                                  std::string const& argument, std::string const& difference)
{
  std::vector<finding> findings{
      {.id = finding_id::plan_mismatch,
       .severity = severity::error,
       .files = {changed.file},
       .symbol = argument,
       .message = detail::format("{}: the plan {}; callers of the live plan use that of {}",
                                 changed.file, difference, first.file),
       .hint = "keep the arguments of the plan, or make another live plan"}};
  throw refused_error(std::move(findings), detail::format("swap plan {}", changed.name));
}

/// @throws refused_error plan-mismatch: an argument of `changed` that a caller gives differs from
///   that of `first` in name, role, type, dimensions or whether it has a default.
void check_same_arguments(launch_plan const& first, launch_plan const& changed)
{
  for (auto const& argument : first.arguments) {
    if (argument.role == argument_role::scratch) continue;
    auto const difference = describe_difference(argument, changed.find(argument.name));
    if (!difference.empty()) fail_difference(first, changed, argument.name, difference);
  }
  for (auto const& argument : changed.arguments)
    if (argument.role != argument_role::scratch && first.find(argument.name) == nullptr)
      fail_difference(first, changed, argument.name,
                      detail::format("has another argument, {}", argument.name));
}

}  // namespace
}  // namespace fatlink::detail

namespace fatlink {
namespace {

using detail::kept_call;

/// A prepared plan, and the bound calls that exist, by their numbers.
struct plan_content final : detail::version_content {
  explicit plan_content(prepared_plan prepared) : plan(std::move(prepared)) {}

  void bind(std::uint64_t number, kept_call const& call)
  {
    calls.try_emplace(number, plan.bind(call.arguments.get(), call.scratch));
  }

  prepared_plan plan;
  std::map<std::uint64_t, bound_plan> calls = {};
};

plan_content& plan_of(detail::version_content& content)
{
  return static_cast<plan_content&>(content);
}

}  // namespace

struct live_plan::state {
  state(device const& destination, linker links, live_settings settings)
      : swaps(destination, std::move(links), std::move(settings),
              [this](detail::version_content& content) { support(plan_of(content)); })
  {
  }

  /// @throws as live_plan::swap.
  void support(plan_content& content)
  {
    check_published(content.plan.plan());
    std::erase_if(content.calls, [&](auto const& entry) { return !calls.contains(entry.first); });
    for (auto const& [number, call] : calls)
      if (!content.calls.contains(number)) content.bind(number, *call);
  }

  /// Each version has the arguments of the one before, so all have those of the first.
  void check_published(launch_plan const& changed)
  {
    launch_plan const* published = nullptr;
    auto& versions = swaps.versions();
    if (!versions.has_version()) return;
    detail::live_call const call(versions, [&](detail::version_content& content) {
      published = &plan_of(content).plan.plan();
    });
    detail::check_same_arguments(*published, changed);
  }

  /// Calls `use` with the published plan.
  template <typename Use>
  auto with_plan(Use const& use)
  {
    prepared_plan const* plan = nullptr;
    detail::live_call const call(
        swaps.versions(), [&](detail::version_content& content) { plan = &plan_of(content).plan; });
    return use(*plan, call.version().number);
  }

  std::uint64_t add(std::unique_ptr<kept_call const> call)
  {
    auto const lock = swaps.lock_callers();
    auto bound = with_plan([&](prepared_plan const& plan, std::uint64_t) {
      return plan.bind(call->arguments.get(), call->scratch);
    });
    auto const number = next_call++;
    calls.emplace(number, std::move(call));
    swaps.versions().change([&](detail::version_content& content) {
      plan_of(content).calls.emplace(number, std::move(bound));
    });
    return number;
  }

  void remove(std::uint64_t number)
  {
    auto const lock = swaps.lock_callers();
    calls.erase(number);
    std::map<std::uint64_t, bound_plan>::node_type removed;
    swaps.versions().change([&](detail::version_content& content) {
      removed = plan_of(content).calls.extract(number);
    });
  }

  std::map<std::uint64_t, std::unique_ptr<kept_call const>>
      calls;                    ///< guarded by the lock of callers
  std::uint64_t next_call = 0;  ///< guarded by the lock of callers
  detail::swapper swaps;        ///< last: its thread uses the other members
};

/// A bound call that exists.
struct live_bound_plan::state {
  state(std::shared_ptr<live_plan::state> live, std::uint64_t call)
      : plan(std::move(live)), number(call)
  {
  }
  ~state() { plan->remove(number); }
  state(state const&) = delete;
  state& operator=(state const&) = delete;

  std::shared_ptr<live_plan::state> plan;
  std::uint64_t number;
};

void live_bound_plan::run(stream_view stream) const
{
  if (!state_)
    detail::fail_use("the bound call was moved from", "the bound call",
                     "use the object that it was moved to", error_code::moved_from);
  bound_plan const* bound = nullptr;
  detail::live_call const call(state_->plan->swaps.versions(), stream,
                               [&](detail::version_content& content) {
                                 bound = &plan_of(content).calls.at(state_->number);
                               });
  bound->run(stream);
}

live_plan::live_plan(device const& destination, linker linker, live_settings settings)
    : state_(std::make_shared<state>(destination, std::move(linker), std::move(settings)))
{
}

live_plan::state& live_plan::contents() const
{
  if (state_) return *state_;
  detail::fail_use("the live plan was moved from", "the live plan",
                   "use the object that it was moved to", error_code::moved_from);
}

namespace {

launch_plan plan_for(std::vector<input> const& inputs, plan_swap_options const& options)
{
  if (options.plan) return *options.plan;
  if (!inputs.empty() && inputs.front().has_value()) return detail::library_plan(inputs.front());
  detail::fail_use("there are no inputs to swap to", "inputs", "pass the library first",
                   error_code::missing_input);
}

detail::swap_request make_plan_request(detail::swapper const& swaps, std::vector<input> inputs,
                                       double ms, plan_swap_options const& options)
{
  auto plan = plan_for(inputs, options);
  detail::swap_request request{
      .inputs = inputs, .link = swaps.options_of(options.link), .read_ms = ms};
  if (request.link.kernels.empty())
    request.link.kernels = detail::kernels_to_keep(plan, request.inputs);
  request.load = [destination = swaps.destination(), plan = std::move(plan),
                  inputs = std::move(inputs)](linked_image image) {
    return std::make_unique<plan_content>(prepare(destination, plan, inputs, std::move(image)));
  };
  if (options.verify)
    request.verify = [verify = options.verify](detail::version_content& content) {
      verify(plan_of(content).plan);
    };
  return request;
}

}  // namespace

swap_report live_plan::swap(std::vector<input> const& inputs, plan_swap_options const& options)
{
  auto& swaps = contents().swaps;
  return swaps.swap(make_plan_request(swaps, inputs, 0, options));
}

swap_report live_plan::swap_files(std::vector<std::string> const& inputs,
                                  plan_swap_options const& options)
{
  auto& swaps = contents().swaps;
  auto [files, ms] = detail::find_inputs(inputs);
  return swaps.swap(make_plan_request(swaps, std::move(files), ms, options));
}

launch_plan live_plan::plan() const
{
  return contents().with_plan([](prepared_plan const& plan, std::uint64_t) { return plan.plan(); });
}

std::uint64_t live_plan::version() const
{
  return contents().with_plan([](prepared_plan const&, std::uint64_t number) { return number; });
}

plan_extents live_plan::extents(std::span<call_argument const> sizes) const
{
  return contents().with_plan(
      [&](prepared_plan const& plan, std::uint64_t) { return plan.extents(sizes); });
}

std::size_t live_plan::scratch_bytes(std::span<call_argument const> sizes) const
{
  return contents().with_plan(
      [&](prepared_plan const& plan, std::uint64_t) { return plan.scratch_bytes(sizes); });
}

void live_plan::run(stream_view stream, std::span<call_argument const> arguments,
                    scratch_memory const& scratch) const
{
  prepared_plan const* plan = nullptr;
  detail::live_call const call(
      contents().swaps.versions(), stream,
      [&](detail::version_content& content) { plan = &plan_of(content).plan; });
  plan->run(stream, arguments, scratch);
}

live_bound_plan live_plan::bind(std::span<call_argument const> arguments,
                                scratch_memory const& scratch) const
{
  auto& live = contents();
  auto const number = live.add(std::make_unique<kept_call const>(arguments, scratch));
  return live_bound_plan(std::make_shared<live_bound_plan::state const>(state_, number));
}

swap_report live_plan::wait_for_best() const
{
  return contents().swaps.wait_for_best();
}

}  // namespace fatlink
