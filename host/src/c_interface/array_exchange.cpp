// SPDX-License-Identifier: Apache-2.0
#include "c_interface/array_exchange.hpp"

#include <algorithm>
#include <array>

#include "c_interface/enumerations.hpp"
#include "c_interface/guard.hpp"
#include "c_interface/struct_size.hpp"
#include "device/misuse.hpp"
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
    fail_framework(stated.name, "is no array that its framework describes by DLPack");
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
    fail_framework("stream", "cannot be asked for: the framework tells no current stream");
  return stream_view(stream);
}

}  // namespace fatlink::c
