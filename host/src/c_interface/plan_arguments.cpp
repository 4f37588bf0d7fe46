// SPDX-License-Identifier: Apache-2.0
#include "c_interface/plan_arguments.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "c_interface/guard.hpp"
#include "c_interface/structs.hpp"
#include "device/device_checks.hpp"
#include "util/text/format.hpp"

namespace fatlink::c {
namespace {

constexpr std::uint32_t k_major = 1;
constexpr std::int32_t k_cuda = 2;  // kDLCUDA

/// DLPack's code and bits of a number.
struct dl_type {
  std::uint8_t code;
  std::uint8_t bits;
};
constexpr std::uint8_t k_signed = 0;
constexpr std::uint8_t k_unsigned = 1;
constexpr std::uint8_t k_float = 2;
constexpr std::uint8_t k_bfloat = 4;
constexpr std::uint8_t k_complex = 5;

/// By fatlink_scalar, from FATLINK_FLOAT16 on.
constexpr std::array<dl_type, 14> k_types{{{k_float, 16},
                                           {k_bfloat, 16},
                                           {k_float, 32},
                                           {k_float, 64},
                                           {k_signed, 8},
                                           {k_signed, 16},
                                           {k_signed, 32},
                                           {k_signed, 64},
                                           {k_unsigned, 8},
                                           {k_unsigned, 16},
                                           {k_unsigned, 32},
                                           {k_unsigned, 64},
                                           {k_complex, 64},
                                           {k_complex, 128}}};

[[noreturn]] void fail_array(char const* name, std::string const& cause, std::string const& hint)
{
  detail::fail_use(detail::format("argument {} {}", name, cause), name, hint);
}

/// Of the API or one of its former versions. Null: none has the major version.
dl_exchange_api const* find_version(dl_exchange_api const* api)
{
  while (api != nullptr && api->major != k_major) api = api->former;
  return api;
}

/// @throws usage_error
void check_type(dl_tensor const& tensor, fatlink_argument const& stated)
{
  auto const index = static_cast<std::size_t>(stated.scalar) - FATLINK_FLOAT16;
  auto const is_number = stated.scalar >= FATLINK_FLOAT16 && index < k_types.size();
  if (is_number && tensor.lanes == 1 && tensor.code == k_types.at(index).code &&
      tensor.bits == k_types.at(index).bits)
    return;
  fail_array(stated.name,
             detail::format("is an array of DLPack's type code {} with {} bits and {} lanes",
                            tensor.code, tensor.bits, tensor.lanes),
             "set the member scalar to the number type of the array");
}

bool is_contiguous(dl_tensor const& tensor)
{
  if (tensor.strides == nullptr) return true;
  std::int64_t expected = 1;
  for (auto i = tensor.dimensions; i-- > 0;) {
    if (tensor.shape[i] == 0) return true;
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected) return false;
    expected *= tensor.shape[i];
  }
  return true;
}

}  // namespace

array_exchange::array_exchange(fatlink_array_exchange const* given, std::int32_t ordinal)
    : given_(required_struct(given, "exchange")), ordinal_(ordinal)
{
  if (given_.release != nullptr) (void)required(given_.acquire, "exchange.acquire");
  if (given_.api == nullptr) fail_null("exchange.api");
  api_ = find_version(static_cast<dl_exchange_api const*>(given_.api));
  if (api_ == nullptr || api_->read == nullptr || api_->current_stream == nullptr)
    detail::fail_use(
        "exchange.api has no functions of DLPack 1.3 that read an array and its stream",
        "exchange.api", "call fatlink_plan_run with addresses");
  if (ordinal < 0)
    detail::fail_use("the plan was prepared for the reference device, which takes no objects",
                     "plan", "call fatlink_plan_run, with memory of fatlink_buffer_map_host");
}

void array_exchange::fail_framework(char const* name, char const* cause) const
{
  if (given_.clear != nullptr) given_.clear();
  fail_array(name, cause, "pass an array that has memory of its own");
}

std::size_t array_exchange::count_of(dl_tensor const& tensor, char const* name)
{
  if (given_.dimensions > 0 && tensor.dimensions != given_.dimensions)
    fail_array(name, detail::format("has {} dimensions", tensor.dimensions),
               detail::format("pass arrays of {}", given_.dimensions));
  std::size_t count = 1;
  for (std::int32_t i = 0; i < tensor.dimensions; ++i)
    count *= static_cast<std::size_t>(tensor.shape[i]);
  if (given_.dimensions != 0) return count;
  if (!has_first_) first_ = tensor;
  has_first_ = true;
  if (tensor.dimensions != first_.dimensions ||
      !std::equal(tensor.shape, tensor.shape + tensor.dimensions, first_.shape))
    fail_array(name, "has another shape than the first array", "pass arrays of one shape");
  return count;
}

call_argument array_exchange::read(fatlink_argument const& stated, void* object)
{
  dl_tensor tensor{};
  if (api_->read(object, &tensor) != 0)
    fail_framework(stated.name, "is not an array that its framework describes with DLPack");
  if (tensor.device_type != k_cuda || tensor.device_id != ordinal_)
    fail_array(stated.name,
               detail::format("is on DLPack's device {}:{}; the plan runs on gpu:{}",
                              tensor.device_type, tensor.device_id, ordinal_),
               "move the array to this GPU");
  if (!is_contiguous(tensor))
    fail_array(stated.name, "is not contiguous in row-major order", "copy it");
  check_type(tensor, stated);
  auto const count = count_of(tensor, stated.name);
  if (tensor.data == nullptr && count != 0)
    fail_array(stated.name, "has no memory", "pass an array that still has its data");
  element_type type;
  type.kind = *read_scalar(stated.scalar);
  type.size = tensor.bits / 8U;
  auto const address = reinterpret_cast<device_address>(tensor.data) + tensor.byte_offset;
  return call_argument::of_array(stated.name, type, address, count);
}

stream_view array_exchange::current_stream() const
{
  void* stream = nullptr;
  if (api_->current_stream(k_cuda, ordinal_, &stream) != 0)
    fail_framework("stream", "is not known: the framework provides no current stream");
  return stream_view(stream);
}

namespace {

/// Bytes of a number; 0 of bytes and records, which have no size of their own.
constexpr std::array<std::size_t, 16> k_scalar_bytes{2, 2, 4, 8, 1, 2,  4, 8,
                                                     1, 2, 4, 8, 8, 16, 0, 0};

[[noreturn]] void fail_member(std::string_view name, std::string const& cause,
                              std::string const& hint)
{
  detail::fail_use(detail::format("argument {} {}", name, cause), std::string(name), hint);
}

/// All structs have the size of the first one, because an array of them has one stride.
fatlink_argument read_argument(fatlink_argument const* arguments, std::size_t index)
{
  auto const* const first = reinterpret_cast<std::byte const*>(arguments);
  auto const stride = arguments->size;
  check_size(stride, k_first_size<fatlink_argument>, "arguments[0]");
  std::size_t size = 0;
  std::memcpy(&size, first + index * stride, sizeof size);
  if (size != stride)
    detail::fail_use(detail::format("the size of arguments[{}] is {}; that of arguments[0] is {}",
                                    index, size, stride),
                     "arguments",
                     "set the member size of all arguments to sizeof(fatlink_argument)");
  auto const argument =
      read_struct<fatlink_argument>(first + index * stride, size, "an entry of arguments");
  if (argument.name == nullptr) fail_null(detail::format("arguments[{}].name", index));
  if (!is_scalar(argument.scalar))
    fail_member(argument.name,
                detail::format("has the scalar {}, which is not a constant of fatlink_scalar",
                               argument.scalar),
                "pass a constant of fatlink_scalar");
  return argument;
}

/// Of an element or of the value; 0: not stated.
std::size_t bytes_of(fatlink_argument const& argument, std::optional<scalar_kind> kind)
{
  auto const stated = argument.element_bytes;
  auto const own = kind ? k_scalar_bytes.at(static_cast<std::size_t>(*kind)) : 0;
  if (stated == 0 || own == 0) return std::max(stated, own);
  if (stated != own)
    fail_member(
        argument.name,
        detail::format("has elements of {} bytes; {} has {}", stated, to_string(*kind), own),
        "leave element_bytes 0, or set it to the size of the type");
  return stated;
}

/// The type that the plan states for the value, if it has the same size; else bytes.
scalar_kind kind_in_plan(fatlink_argument const& argument, launch_plan const* plan)
{
  if (plan == nullptr) return scalar_kind::bytes;
  auto const match = std::ranges::find(plan->arguments, argument.name, &plan_argument::name);
  auto const is_known =
      match != plan->arguments.end() && match->type && match->type->size == argument.element_bytes;
  return is_known ? match->type->kind : scalar_kind::bytes;
}

/// What calls look at.
element_type type_of(scalar_kind kind, std::size_t size)
{
  element_type type;
  type.kind = kind;
  type.size = size;
  return type;
}

call_argument make_array(fatlink_argument const& argument)
{
  auto const kind = read_scalar(argument.scalar);
  auto const bytes = bytes_of(argument, kind);
  if (kind && bytes == 0)
    fail_member(argument.name, "is an array of elements of an unknown size",
                "set element_bytes, or leave scalar unstated for an array of any type");
  auto const type = type_of(kind.value_or(scalar_kind::bytes), bytes);
  return argument.count == UINT64_MAX
             ? call_argument::of_array(argument.name, type, argument.address)
             : call_argument::of_array(argument.name, type, argument.address, argument.count);
}

call_argument make_value(fatlink_argument const& argument, launch_plan const* plan)
{
  if (argument.address != 0)
    fail_member(argument.name, "has both an address and a value",
                "set address for an array, or value for a size or value");
  auto const kind = read_scalar(argument.scalar);
  auto const bytes = bytes_of(argument, kind);
  if (bytes == 0)
    fail_member(argument.name, "is a value of an unknown size", "set element_bytes or scalar");
  auto const type = type_of(kind ? *kind : kind_in_plan(argument, plan), bytes);
  return call_argument::of_bytes(argument.name, type,
                                 {static_cast<std::byte const*>(argument.value), bytes});
}

}  // namespace

bool has_unstated_value(fatlink_argument const* arguments, std::size_t count)
{
  (void)list(arguments, count, "arguments");
  for (std::size_t i = 0; i < count; ++i) {
    auto const argument = read_argument(arguments, i);
    if (argument.value != nullptr && argument.scalar == FATLINK_SCALAR_UNSTATED) return true;
  }
  return false;
}

argument_list::argument_list(fatlink_argument const* arguments, std::size_t count,
                             launch_plan const* plan)
{
  (void)list(arguments, count, "arguments");
  arguments_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) add(read_argument(arguments, i), plan);
}

argument_list::argument_list(fatlink_argument const* arguments, std::size_t count,
                             launch_plan const* plan, array_exchange& exchange,
                             void* const* objects)
{
  (void)list(arguments, count, "arguments");
  (void)list(objects, count, "objects");
  arguments_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto const argument = read_argument(arguments, i);
    if (objects[i] == nullptr)
      add(argument, plan);
    else
      arguments_.push_back(exchange.read(argument, objects[i]));
  }
}

void argument_list::add(fatlink_argument const& argument, launch_plan const* plan)
{
  arguments_.push_back(argument.value == nullptr ? make_array(argument)
                                                 : make_value(argument, plan));
}

std::string type_name_of(plan_argument const& argument)
{
  return argument.type ? to_string(*argument.type) : std::string();
}

fatlink_plan_argument c_argument_of(plan_argument const& argument, std::string const& name,
                                    std::string const& type_name)
{
  auto const own = argument.type && !argument.shape.empty() ? argument.type->alignment : 0;
  return {.size = sizeof(fatlink_plan_argument),
          .name = name.c_str(),
          .role = role_of(argument.role),
          .scalar = argument.type ? scalar_of(argument.type->kind) : FATLINK_SCALAR_UNSTATED,
          .element_bytes = argument.type ? argument.type->size : 0,
          .type_name = type_name.c_str(),
          .dimensions = static_cast<std::uint32_t>(argument.shape.size()),
          .alignment = static_cast<std::uint32_t>(std::max(own, argument.alignment)),
          .has_default = argument.default_value ? 1 : 0,
          .reserved = 0};
}

extents_output::extents_output(char const* array_name, std::uint64_t* destination, std::size_t room,
                               std::size_t* dimension_count)
    : dimensions_(output(dimension_count, "dimensions")),
      array_(required_text(array_name, "array")),
      extents_(destination),
      capacity_(list(destination, room, "extents").size())
{
}

void extents_output::set(launch_plan const& plan, plan_extents const& all) const
{
  auto const match = all.arrays.find(array_);
  if (match == all.arrays.end())
    detail::fail_use(detail::format("plan {} has no array {}", plan.name, array_), array_,
                     "pass the name of an argument with dimensions");
  std::copy_n(match->second.begin(), std::min(capacity_, match->second.size()), extents_);
  dimensions_ = match->second.size();
}

}  // namespace fatlink::c
