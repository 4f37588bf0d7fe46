// SPDX-License-Identifier: Apache-2.0
// The calls of a plan: their arguments, what the calls of a plan with its image on a device share,
// and the memory of their scratch arrays.
#include "fatlink/plan_call.hpp"

#include <atomic>
#include <memory>
#include <utility>

#include "fatlink/prepare.hpp"
#include "plan/bind_types.hpp"
#include "plan/check_plan.hpp"
#include "plan/plan_call_state.hpp"
#include "plan/plan_program.hpp"
#include "preflight/symbols.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

/// Structs are passed as bytes: kind_of() knows numbers only.
scalar_kind kind_in_call(element_type const& type) noexcept
{
  return type.kind == scalar_kind::record ? scalar_kind::bytes : type.kind;
}

}  // namespace

call_argument call_argument::of_bytes(std::string_view name, element_type const& type,
                                      std::span<std::byte const> value)
{
  call_argument argument(name, nullptr);
  argument.is_array_ = false;
  argument.kind_ = kind_in_call(type);
  argument.element_bytes_ = value.size();
  if (value.size() <= k_inline_bytes)
    std::memcpy(argument.inline_.data(), value.data(), value.size());
  else
    argument.outside_ = value.data();
  return argument;
}

call_argument call_argument::of_array(std::string_view name, element_type const& type,
                                      device_address address, std::size_t count)
{
  auto argument = of_array(name, type, address);
  argument.count_ = count;
  argument.has_count_ = true;
  return argument;
}

call_argument call_argument::of_array(std::string_view name, element_type const& type,
                                      device_address address)
{
  call_argument argument(name, nullptr);
  argument.kind_ = kind_in_call(type);
  argument.element_bytes_ = type.size;
  argument.address_ = address;
  return argument;
}

struct prepared_plan::state {
  state(device const& destination, launch_plan bound, linked_image linked)
      : program(destination, std::move(bound), std::move(linked))
  {
  }
  ~state() { delete spare.load(); }
  state(state const&) = delete;
  state& operator=(state const&) = delete;

  detail::plan_program program;
  /// The memory of an earlier call, for the next one; null while a call uses it.
  mutable std::atomic<detail::plan_call_state*> spare = nullptr;
};

namespace {

/// The memory of a call: that of an earlier call, or new.
class call_lease {
 public:
  call_lease(detail::plan_program const& program, std::atomic<detail::plan_call_state*>& spare)
      : spare_(spare), call_(spare.exchange(nullptr))
  {
    if (!call_) call_ = std::make_unique<detail::plan_call_state>(program);
  }
  ~call_lease()
  {
    detail::plan_call_state* none = nullptr;
    if (spare_.compare_exchange_strong(none, call_.get())) (void)call_.release();
  }
  call_lease(call_lease const&) = delete;
  call_lease& operator=(call_lease const&) = delete;
  detail::plan_call_state* operator->() const noexcept { return call_.get(); }

 private:
  std::atomic<detail::plan_call_state*>& spare_;
  std::unique_ptr<detail::plan_call_state> call_;
};

/// Memory from the pool of the stream, released on the stream behind the work that uses it.
class stream_memory {
 public:
  stream_memory(device_backend& device, stream_view stream, std::size_t bytes)
      : device_(device),
        stream_(stream.handle_on(device)),
        address_(device.allocate(bytes, stream_))
  {
  }
  ~stream_memory() { device_.release(address_, stream_); }
  stream_memory(stream_memory const&) = delete;
  stream_memory& operator=(stream_memory const&) = delete;
  [[nodiscard]] device_address address() const noexcept { return address_; }

 private:
  device_backend& device_;
  device_backend::handle stream_;
  device_address address_;
};

}  // namespace

struct bound_plan::state {
  state(std::shared_ptr<void const> plan, detail::plan_program const& program)
      : owner(std::move(plan)), call(program)
  {
  }

  std::shared_ptr<void const> owner;  ///< of the program that the call uses
  detail::plan_call_state call;
};

void bound_plan::run(stream_view stream) const
{
  state_->call.launch(stream);
}

launch_plan const& prepared_plan::plan() const noexcept
{
  return state_->program.formulas.plan;
}

linked_image const& prepared_plan::image() const noexcept
{
  return state_->program.image;
}

plan_extents prepared_plan::extents(std::span<call_argument const> sizes) const
{
  call_lease const call(state_->program, state_->spare);
  call->set_sizes(sizes);
  return call->extents();
}

std::size_t prepared_plan::scratch_bytes(std::span<call_argument const> sizes) const
{
  call_lease const call(state_->program, state_->spare);
  call->set_sizes(sizes);
  return call->scratch_bytes();
}

void prepared_plan::run(stream_view stream, std::span<call_argument const> arguments,
                        scratch_memory const& scratch) const
{
  call_lease const call(state_->program, state_->spare);
  call->set(arguments);
  auto const is_given = scratch.address != 0 || scratch.bytes != 0;
  if (state_->program.has_scratch() && is_given) {
    call->check_scratch(scratch);
    call->set_scratch(scratch.address);
  } else if (auto const needed = is_given ? 0 : call->scratch_bytes(); needed != 0) {
    stream_memory const memory(*state_->program.backend, stream, needed);
    call->set_scratch(memory.address());
    call->launch(stream);
    return;
  }
  call->launch(stream);
}

bound_plan prepared_plan::bind(std::span<call_argument const> arguments,
                               scratch_memory const& scratch) const
{
  auto bound = std::make_shared<bound_plan::state>(state_, state_->program);
  bound->call.set(arguments);
  if (state_->program.has_scratch()) {
    bound->call.check_scratch(scratch);
    bound->call.set_scratch(scratch.address);
  }
  return bound_plan(std::move(bound));
}

prepared_plan prepare(device const& destination, launch_plan plan, std::vector<input> const& inputs,
                      linked_image image)
{
  auto const modules = detail::modules_of(inputs);
  auto const throw_errors = [&](std::vector<finding> findings) {
    if (!findings.empty())
      throw refused_error(std::move(findings), detail::format("run plan {}", plan.name));
  };
  throw_errors(detail::check_elements(plan, modules));
  auto bound = detail::bind_types(plan, detail::elements_of(modules, inputs));
  throw_errors(detail::check_plan(bound, modules));
  detail::clear_unsafe_overlaps(bound, modules, {.target = image.target, .mode = image.mode});
  return prepared_plan(
      std::make_shared<prepared_plan::state>(destination, std::move(bound), std::move(image)));
}

}  // namespace fatlink
