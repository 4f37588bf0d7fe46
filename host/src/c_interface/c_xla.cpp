// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "c_interface/guard.hpp"
#include "c_interface/handles.hpp"
#include "c_interface/plan_arguments.hpp"
#include "c_interface/structs.hpp"
#include "c_interface/xla_ffi.hpp"
#include "device/device_checks.hpp"
#include "plan/requested_link.hpp"
#include "util/text/format.hpp"

namespace fatlink::c {
namespace {

constexpr std::int32_t k_host = -1;  // in place of the ordinal of a GPU
constexpr std::size_t k_scratch_alignment = 256;

/// Bytes of an element, by the number of XLA's PrimitiveType; 0: a type that fatlink does not have.
constexpr std::array<std::uint8_t, 19> k_element_bytes{0, 1, 1, 2, 4, 8, 1, 2, 4, 8,
                                                       2, 4, 8, 0, 0, 8, 2, 0, 16};

[[noreturn]] void fail_call(std::string const& cause, std::string const& hint)
{
  detail::fail_use(cause, "the custom call", hint);
}

/// An array of the host or of a GPU.
struct xla_array {
  std::byte* data;
  std::size_t count;
  std::size_t element_bytes;

  [[nodiscard]] std::size_t bytes() const noexcept { return count * element_bytes; }
};

xla_array array_at(xla::buffers const& buffers, std::size_t index)
{
  if (buffers.kinds[index] != xla::k_buffer)
    fail_call(detail::format("operand or result {} is no array", index), "pass arrays only");
  auto const& buffer = *static_cast<xla::buffer const*>(buffers.entries[index]);
  auto const type = static_cast<std::size_t>(buffer.type);
  xla_array array{static_cast<std::byte*>(buffer.data), 1,
                  type < k_element_bytes.size() ? k_element_bytes.at(type) : 0U};
  for (std::int64_t i = 0; i < buffer.rank; ++i)
    array.count *= static_cast<std::size_t>(buffer.extents[i]);
  return array;
}

/// An argument of a plan that is an array.
struct array_argument {
  std::string name;
  element_type type;  ///< of size 0: a state, whose type is not known
};

/// @throws usage_error the plan has no array of this name.
array_argument find_array(launch_plan const& plan, std::string name)
{
  auto const match = std::ranges::find(plan.arguments, name, &plan_argument::name);
  if (match == plan.arguments.end() ||
      (match->shape.empty() && match->role != argument_role::state) ||
      match->role == argument_role::scratch)
    detail::fail_use(detail::format("plan {} has no array {}", plan.name, name), name,
                     "pass the name of an input, output or state");
  element_type unstated;
  unstated.size = 0;
  return {std::move(name), match->type.value_or(unstated)};
}

std::vector<array_argument> find_arrays(launch_plan const& plan, char const* const* names,
                                        std::size_t count, char const* parameter)
{
  std::vector<array_argument> found;
  for (auto& name : texts(names, count, parameter)) found.push_back(find_array(plan, name));
  return found;
}

/// Sizes and values of a call, with names and bytes of their own.
class owned_values {
 public:
  owned_values(fatlink_argument const* values, std::size_t count, launch_plan const& plan)
  {
    argument_list const given(values, count, &plan);
    names_.reserve(given.span().size());  // the arguments refer to the names
    for (auto const& argument : given.span()) add(argument);
  }

  [[nodiscard]] std::vector<call_argument> const& list() const noexcept { return arguments_; }

 private:
  void add(call_argument const& argument)
  {
    if (argument.is_array())
      detail::fail_use(detail::format("{} is an array", argument.name()), "call.values",
                       "pass the name of an array in operands or results");
    names_.emplace_back(argument.name());
    auto const* const bytes = static_cast<std::byte const*>(argument.value());
    auto const& copy = bytes_.emplace_back(bytes, bytes + argument.element_bytes());
    arguments_.push_back(
        argument.with_storage(names_.back(), argument.has_outside_value() ? copy.data() : nullptr));
  }

  std::vector<std::string> names_;
  std::vector<std::vector<std::byte>> bytes_;
  std::vector<call_argument> arguments_;
};

/// A plan on a device.
struct device_plan {
  std::shared_ptr<device> place;
  prepared_plan plan;
};

/// Opens a device, or returns it if it is open. Devices stay open until the process ends.
std::shared_ptr<device> open_once(std::int32_t ordinal)
{
  static auto& mutex = *new std::mutex;
  static auto& devices = *new std::map<std::int32_t, std::shared_ptr<device>>;
  std::scoped_lock const lock(mutex);
  auto& opened = devices[ordinal];
  if (opened == nullptr)
    opened = open_device(ordinal == k_host ? "cpu" : detail::format("gpu:{}", ordinal));
  return opened;
}

/// What a custom call executes, with its plan on each device.
class xla_call {
 public:
  explicit xla_call(fatlink_xla_call const& given)
      : xla_call(given, required(given.plan, "call.plan"),
                 required_struct(given.request, "call.request"))
  {
  }

  /// The plan on a GPU, or for k_host on the reference device. Prepares it if necessary; another
  /// device then waits, because it usually needs the same link.
  device_plan on(std::int32_t ordinal)
  {
    std::scoped_lock const lock(mutex_);
    auto const match = plans_.find(ordinal);
    return match != plans_.end() ? match->second
                                 : plans_.emplace(ordinal, prepare_on(ordinal)).first->second;
  }

  /// Executes the call on the reference device.
  void run_on_host(device_plan const& target, xla::frame const& frame) const
  {
    check_counts(frame);
    std::vector<device_buffer<std::byte>> mappings;
    auto const arguments = make_arguments(frame, [&](xla_array const& array, host_access access) {
      if (array.bytes() == 0) return device_address{0};
      return mappings.emplace_back(target.place->map_host_memory(array.data, array.bytes(), access))
          .address();
    });
    target.plan.run(stream_view(nullptr), arguments);
  }

  /// Queues the call on a GPU.
  void run_on_gpu(device_plan const& target, stream_view stream, xla::frame const& frame) const
  {
    check_counts(frame);
    auto const arguments = make_arguments(frame, [](xla_array const& array, host_access) {
      return reinterpret_cast<device_address>(array.data);
    });
    target.plan.run(stream, arguments, find_scratch(target.plan, arguments, frame));
  }

 private:
  xla_call(fatlink_xla_call const& given, fatlink_plan const& prepared,
           fatlink_plan_request const& request)
      : linker_(required(given.linker, "call.linker").linker),
        inputs_(read_plan_inputs(request)),
        mode_(read_mode(request.mode)),
        operands_(find_arrays(prepared.plan.plan(), given.operands, given.operand_count,
                              "call.operands")),
        results_(
            find_arrays(prepared.plan.plan(), given.results, given.result_count, "call.results")),
        values_(given.values, given.value_count, prepared.plan.plan())
  {
    plans_.emplace(prepared.ordinal, device_plan{prepared.device, prepared.plan});
  }

  device_plan prepare_on(std::int32_t ordinal)
  {
    auto place = open_once(ordinal);
    auto plan = detail::prepare_link(*place, linker_, detail::request_link(*place, inputs_, mode_));
    return {std::move(place), std::move(plan)};
  }

  void check_counts(xla::frame const& frame) const
  {
    auto const operands = static_cast<std::size_t>(frame.operands.count);
    auto const results = static_cast<std::size_t>(frame.results.count);
    if (operands == operands_.size() &&
        (results == results_.size() || results == results_.size() + 1))
      return;
    fail_call(detail::format("the custom call has {} operands and {} results", operands, results),
              detail::format("pass {} operands, and {} results or one more for scratch memory",
                             operands_.size(), results_.size()));
  }

  /// The arguments of the plan. `address_of` returns the device's address of an array.
  template <typename Address>
  [[nodiscard]] std::vector<call_argument> make_arguments(xla::frame const& frame,
                                                          Address const& address_of) const
  {
    auto arguments = values_.list();
    auto const add = [&](auto const& names, xla::buffers const& buffers, host_access access) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        auto const array = array_at(buffers, i);
        arguments.push_back(make_argument(names[i], array, address_of(array, access)));
      }
    };
    add(operands_, frame.operands, host_access::read_only);
    add(results_, frame.results, host_access::read_write);
    return arguments;
  }

  static call_argument make_argument(array_argument const& argument, xla_array const& array,
                                     device_address address)
  {
    if (argument.type.size == 0)
      return call_argument::of_array(argument.name, argument.type, address);
    if (array.element_bytes != argument.type.size)
      fail_call(detail::format("{} has elements of {} bytes; the plan's are {}", argument.name,
                               array.element_bytes, to_string(argument.type)),
                "pass an array of this type");
    return call_argument::of_array(argument.name, argument.type, address, array.count);
  }

  /// The additional result; none if it is missing or too small, as on a GPU with more
  /// multiprocessors than the one for which its size was computed.
  [[nodiscard]] scratch_memory find_scratch(prepared_plan const& plan,
                                            std::vector<call_argument> const& arguments,
                                            xla::frame const& frame) const
  {
    if (static_cast<std::size_t>(frame.results.count) == results_.size()) return {};
    auto const array = array_at(frame.results, results_.size());
    auto const start = reinterpret_cast<device_address>(array.data);
    auto const address =
        (start + k_scratch_alignment - 1) / k_scratch_alignment * k_scratch_alignment;
    auto const end = start + array.bytes();
    if (address >= end || end - address < plan.scratch_bytes(arguments)) return {};
    return {.address = address, .bytes = end - address};
  }

  linker linker_;
  std::vector<input> inputs_;  ///< the library first
  link_mode mode_;
  std::vector<array_argument> operands_;
  std::vector<array_argument> results_;
  owned_values values_;
  std::mutex mutex_;
  std::map<std::int32_t, device_plan> plans_;  ///< by the ordinal of the GPU
};

/// The calls of this process, which are never freed: compiled programs may execute them.
class call_registry {
 public:
  static call_registry& instance()
  {
    static auto& registry = *new call_registry;
    return registry;
  }

  void add(std::string name, fatlink_xla_call const& given)
  {
    if (find(name) != nullptr) return;
    auto call = std::make_unique<xla_call>(given);
    std::unique_lock const lock(mutex_);
    calls_.try_emplace(std::move(name), std::move(call));
  }

  /// Null: there is none of this name.
  xla_call* find(std::string_view name)
  {
    std::shared_lock const lock(mutex_);
    auto const match = calls_.find(name);
    return match == calls_.end() ? nullptr : match->second.get();
  }

 private:
  std::shared_mutex mutex_;
  std::map<std::string, std::unique_ptr<xla_call>, std::less<>> calls_;
};

/// @throws usage_error there is no such string.
std::string_view text_attribute(xla::attributes const& attributes, std::string_view name)
{
  for (std::int64_t i = 0; i < attributes.count; ++i) {
    auto const& own = *attributes.names[i];
    if (std::string_view(own.address, own.size) != name || attributes.kinds[i] != xla::k_string)
      continue;
    auto const& text = *static_cast<xla::bytes const*>(attributes.entries[i]);
    return {text.address, text.size};
  }
  fail_call(detail::format("the custom call has no attribute {}", name),
            "pass the name of a call that fatlink_xla_register registered");
}

xla_call& call_of(xla::frame const& frame)
{
  auto const name = text_attribute(frame.attributes, "call");
  if (auto* const call = call_registry::instance().find(name); call != nullptr) return *call;
  fail_call(
      detail::format("this process has no operator {}, which the compiled program calls", name),
      "define the operator with the same arguments and trace a call of it in this process, "
      "before the program runs");
}

/// @throws usage_error XLA has a version of the interface that this is not written for.
void check_version(xla::api const& api, std::size_t size)
{
  if (api.version.major == xla::k_major && api.struct_size >= size) return;
  detail::fail_use(
      detail::format("XLA has version {}.{} of its foreign function interface", api.version.major,
                     api.version.minor),
      "XLA", "install a version of jaxlib with version 0.1 or newer, but not 1.0 (GPUs: 0.2)");
}

/// The numbers of absl::StatusCode.
std::int32_t status_of(fatlink_error_kind kind) noexcept
{
  switch (kind) {
    case FATLINK_ERROR_USAGE:
      return 3;  // INVALID_ARGUMENT
    case FATLINK_ERROR_MEMORY:
      return 8;  // RESOURCE_EXHAUSTED
    case FATLINK_ERROR_CANCELLED:
      return 1;  // CANCELLED
    case FATLINK_ERROR_UNAVAILABLE:
      return 14;  // UNAVAILABLE
    case FATLINK_ERROR_FILE:
    case FATLINK_ERROR_REFUSED:
    case FATLINK_ERROR_LINK:
      return 9;  // FAILED_PRECONDITION
    default:
      return 13;  // INTERNAL
  }
}

/// The error of XLA for `failure`, which is freed.
xla::error* make_error(xla::api const& api, fatlink_error* failure) noexcept
{
  std::string message;
  try {
    message = detail::format("fatlink: {} [{}]\n  hint: {}", failure->message, failure->code,
                             failure->hint);
  } catch (...) {  // without memory
  }
  xla::error_arguments arguments{xla::k_error_size, nullptr,
                                 message.empty() ? failure->message : message.c_str(),
                                 status_of(failure->kind)};
  auto* const error = api.create_error(&arguments);
  fatlink_error_free(failure);
  return error;
}

/// Answers the question about this handler, if `frame` is one: its version, which is XLA's own
/// minor version because the used structs are part of all of them, and its traits.
bool is_question(xla::frame const& frame, std::uint32_t traits) noexcept
{
  auto const* const extension = frame.extensions;
  if (extension == nullptr || extension->type != xla::k_metadata) return false;
  auto& result = *reinterpret_cast<xla::metadata_extension const*>(extension)->metadata;
  auto const minor = frame.api == nullptr ? xla::k_first_minor : frame.api->version.minor;
  result.version = {sizeof(xla::api_version), nullptr, xla::k_major, minor};
  result.traits = traits;
  return true;
}

/// Executes a handler: calls `work`, which returns an error of XLA or null.
template <typename Work>
void* run_handler(void* frame, std::uint32_t traits, std::size_t api_size, Work const& work)
{
  auto const& given = *static_cast<xla::frame const*>(frame);
  if (is_question(given, traits)) return nullptr;
  xla::error* cause = nullptr;
  auto* const failure = guarded([&] {
    check_version(*given.api, api_size);
    cause = work(given);
  });
  return failure == nullptr ? cause : make_error(*given.api, failure);
}

xla::error* run_on_host(xla::frame const& frame)
{
  auto& call = call_of(frame);
  call.run_on_host(call.on(k_host), frame);
  return nullptr;
}

/// In the stage "initialize", only prepares the plan.
xla::error* run_on_gpu(xla::frame const& frame)
{
  xla::ordinal_arguments place{xla::k_ordinal_size, nullptr, frame.context, -1};
  if (auto* const cause = frame.api->get_ordinal(&place); cause != nullptr) return cause;
  if (place.ordinal < 0) fail_call("XLA does not know the GPU of the call", "report it with the version of jaxlib");
  auto& call = call_of(frame);
  auto const target = call.on(place.ordinal);
  if (frame.stage == xla::k_initialize) return nullptr;
  xla::stream_arguments queue{sizeof(xla::stream_arguments), nullptr, frame.context, nullptr};
  if (auto* const cause = frame.api->get_stream(&queue); cause != nullptr) return cause;
  call.run_on_gpu(target, stream_view(queue.stream), frame);
  return nullptr;
}

}  // namespace
}  // namespace fatlink::c

using namespace fatlink::c;

fatlink_error* fatlink_xla_register(char const* name, fatlink_xla_call const* call)
{
  return guarded([&] {
    call_registry::instance().add(required_text(name, "name"), required_struct(call, "call"));
  });
}

void* fatlink_xla_run_host(void* frame)
{
  return run_handler(frame, 0, offsetof(xla::api, errors), run_on_host);
}

void* fatlink_xla_run_cuda(void* frame)
{
  return run_handler(frame, xla::k_command_buffers, sizeof(xla::api), run_on_gpu);
}
