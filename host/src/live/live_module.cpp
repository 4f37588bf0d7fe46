// SPDX-License-Identifier: Apache-2.0
#include "fatlink/live_module.hpp"

#include <algorithm>
#include <deque>

#include "device/device_checks.hpp"
#include "live/live_swap.hpp"
#include "live/versions.hpp"

namespace fatlink {
namespace {

/// A loaded module, with the kernels that callers hold.
struct module_content final : detail::version_content {
  explicit module_content(loaded_module loaded) : module(std::move(loaded)) {}

  loaded_module module;
  std::deque<untyped_kernel> kernels = {};  ///< grows at its end; elements do not move
};

module_content& content_of(detail::version_content& content)
{
  return static_cast<module_content&>(content);
}

}  // namespace

struct live_module::state {
  /// A kernel that callers hold.
  struct known_kernel {
    std::string name;
    std::vector<std::size_t> parameter_sizes;
  };

  state(device const& destination, linker links, live_settings settings)
      : swaps(destination, std::move(links), std::move(settings),
              [this](detail::version_content& content) { support(content_of(content)); })
  {
  }

  /// @throws as live_module::swap.
  void support(module_content& content) const
  {
    for (auto i = content.kernels.size(); i < known.size(); ++i) {
      auto kernel = content.module.find_kernel(known[i].name);
      detail::check_kernel_parameters(known[i].name, kernel.parameter_sizes(),
                                      known[i].parameter_sizes);
      content.kernels.push_back(std::move(kernel));
    }
  }

  [[nodiscard]] loaded_module published() { return current().module; }
  [[nodiscard]] live_version current()
  {
    std::optional<loaded_module> module;
    detail::live_call const call(swaps.versions(), [&](detail::version_content& content) {
      module = content_of(content).module;
    });
    return {.number = call.version().number, .module = std::move(*module)};
  }

  /// The place of a kernel among those that callers hold. With the lock of callers.
  std::size_t index_of(std::string const& name, std::vector<std::size_t> const& sizes,
                       untyped_kernel kernel)
  {
    auto const entry = std::ranges::find(known, name, &known_kernel::name);
    auto const index = static_cast<std::size_t>(entry - known.begin());
    if (entry != known.end()) return index;
    known.push_back({name, sizes});
    swaps.versions().change([&](detail::version_content& content) {
      content_of(content).kernels.push_back(std::move(kernel));
    });
    return index;
  }

  std::vector<known_kernel> known;  ///< guarded by the lock of callers
  detail::swapper swaps;            ///< last: its thread uses the other members
};

struct untyped_live_kernel::state {
  /// With the lock of callers.
  state(std::shared_ptr<live_module::state> live, std::string const& name, untyped_kernel kernel)
      : module(std::move(live)),
        parameter_sizes(kernel.parameter_sizes().begin(), kernel.parameter_sizes().end()),
        index(module->index_of(name, parameter_sizes, std::move(kernel)))
  {
  }

  std::shared_ptr<live_module::state> module;
  std::vector<std::size_t> parameter_sizes;
  std::size_t index;
};

untyped_live_kernel::state const& untyped_live_kernel::contents() const
{
  if (state_) return *state_;
  detail::fail_use("the kernel was moved from", "the kernel", "use the object that it was moved to",
                   error_code::moved_from);
}

std::span<std::size_t const> untyped_live_kernel::parameter_sizes() const
{
  return contents().parameter_sizes;
}

void untyped_live_kernel::launch_raw(stream_view stream, launch_shape const& shape,
                                     std::span<void* const> arguments) const
{
  auto const& live = contents();
  untyped_kernel const* kernel = nullptr;
  detail::live_call const call(
      live.module->swaps.versions(), stream,
      [&](detail::version_content& content) { kernel = &content_of(content).kernels[live.index]; });
  kernel->launch_raw(stream, shape, arguments);
}

live_module::live_module(device const& destination, linker linker, live_settings settings)
    : state_(std::make_shared<state>(destination, std::move(linker), std::move(settings)))
{
}

live_module::state& live_module::contents() const
{
  if (state_) return *state_;
  detail::fail_use("the live module was moved from", "the live module",
                   "use the object that it was moved to", error_code::moved_from);
}

namespace {

detail::swap_request make_module_request(device const& destination, std::vector<input> inputs,
                                         double ms, link_options link, swap_options const& options)
{
  detail::swap_request request{.inputs = std::move(inputs), .link = std::move(link), .read_ms = ms};
  request.load = [destination](linked_image const& image) {
    return std::make_unique<module_content>(destination.load(image));
  };
  if (options.verify)
    request.verify = [verify = options.verify](detail::version_content& content) {
      verify(content_of(content).module);
    };
  return request;
}

}  // namespace

swap_report live_module::swap(std::vector<input> const& inputs, swap_options const& options)
{
  auto& swaps = contents().swaps;
  return swaps.swap(
      make_module_request(swaps.destination(), inputs, 0, swaps.options_of(options.link), options));
}

swap_report live_module::swap_files(std::vector<std::string> const& inputs,
                                    swap_options const& options)
{
  auto& swaps = contents().swaps;
  auto [files, ms] = detail::find_inputs(inputs);
  return swaps.swap(make_module_request(swaps.destination(), std::move(files), ms,
                                        swaps.options_of(options.link), options));
}

untyped_live_kernel live_module::find_kernel(std::string const& name) const
{
  auto const lock = contents().swaps.lock_callers();
  auto kernel = state_->published().find_kernel(name);
  return untyped_live_kernel(
      std::make_shared<untyped_live_kernel::state const>(state_, name, std::move(kernel)));
}

untyped_live_kernel live_module::find_kernel(std::string const& name,
                                             std::span<std::size_t const> parameter_sizes) const
{
  auto const lock = contents().swaps.lock_callers();
  auto kernel = state_->published().find_kernel(name);
  detail::check_kernel_parameters(name, kernel.parameter_sizes(), parameter_sizes);
  return untyped_live_kernel(
      std::make_shared<untyped_live_kernel::state const>(state_, name, std::move(kernel)));
}

live_version live_module::current() const
{
  return contents().current();
}

swap_report live_module::wait_for_best() const
{
  return contents().swaps.wait_for_best();
}

}  // namespace fatlink
