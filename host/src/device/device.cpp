// SPDX-License-Identifier: Apache-2.0
#include "fatlink/device.hpp"

#include <charconv>
#include <utility>

#include "device/cuda_driver.hpp"
#include "device/gpu_device.hpp"
#include "device/reference_device.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"

namespace fatlink {
namespace {

std::shared_ptr<void> own(std::shared_ptr<device_backend> const& backend,
                          device_backend::handle handle,
                          void (device_backend::*destroy)(device_backend::handle) noexcept)
{
  return {handle, [backend, destroy](device_backend::handle held) { ((*backend).*destroy)(held); }};
}

int parse_ordinal(std::string_view name)
{
  auto digits = name;
  if (digits == "gpu") return 0;
  if (digits.starts_with("gpu:")) digits.remove_prefix(4);
  int ordinal = 0;
  auto const* const end = digits.data() + digits.size();
  auto const [rest, code] = std::from_chars(digits.data(), end, ordinal);
  if (code == std::errc{} && rest == end && ordinal >= 0) return ordinal;
  throw usage_error({.message = detail::format("device '{}': no such device", name),
                     .input = std::string(name),
                     .code = error_code::unknown_device,
                     .hint = "write gpu, gpu:1, cpu or cpu:sm_80"});
}

[[noreturn]] void fail_use(std::string message, std::string input, char const* hint)
{
  throw usage_error({.message = std::move(message),
                     .input = std::move(input),
                     .code = error_code::invalid_argument,
                     .hint = hint});
}

[[noreturn]] void fail_buffer(std::string message, char const* hint)
{
  fail_use(std::move(message), "device_buffer", hint);
}

/// Whether objects of one can be used with the other: GPU contexts are the device's primary one.
bool is_same_device(device_backend const& a, device_backend const& b)
{
  if (&a == &b) return true;
  return a.info().kind == device_kind::gpu && b.info().kind == device_kind::gpu &&
         a.info().ordinal == b.info().ordinal;
}

[[noreturn]] void fail_kernel(std::string const& name)
{
  throw file_error(stage::device, {.message = detail::format("there is no kernel named '{}'",
                                                             detail::printable(name)),
                                   .input = name,
                                   .code = error_code::unknown_kernel,
                                   .hint = "fatlink inspect shows the kernels of a fatbin"});
}

}  // namespace

device_backend& require_device(std::shared_ptr<device_backend> const& backend, char const* object)
{
  if (backend) return *backend;
  fail_use(
      detail::format("{} belongs to no device: it was moved from, or made without one", object),
      object, "use the object that it was moved to, or make it with a device");
}

void check_same_device(std::shared_ptr<device_backend> const& expected,
                       std::shared_ptr<device_backend> const& actual, char const* object)
{
  auto const& own = require_device(expected, "the device");
  auto const& other = require_device(actual, object);
  if (is_same_device(own, other)) return;
  fail_use(detail::format("{} belongs to another device, {} {}, than {} {}", object,
                          to_string(other.info().kind), other.info().ordinal,
                          to_string(own.info().kind), own.info().ordinal),
           object, "create it on the device that it is used with");
}

std::size_t buffer_bytes(std::size_t count, std::size_t element_bytes)
{
  std::size_t bytes = 0;
  if (!__builtin_mul_overflow(count, element_bytes, &bytes)) return bytes;
  fail_buffer(detail::format("cannot allocate {} elements of {} bytes: more than 2^64 bytes", count,
                             element_bytes),
              "allocate fewer elements");
}

void check_buffer_access(char const* access, std::size_t first, std::size_t count, std::size_t size)
{
  if (first <= size && count <= size - first) return;
  fail_buffer(
      detail::format("{} {} element{} from element {} on exceeds a buffer of {} element{}", access,
                     count, count == 1 ? "" : "s", first, size, size == 1 ? "" : "s"),
      "pass elements that are in the buffer, or allocate a larger one");
}

char const* to_string(device_kind kind) noexcept
{
  switch (kind) {
    case device_kind::gpu:
      return "gpu";
    case device_kind::cpu:
      return "cpu";
  }
  return "unknown";
}

stream::stream(std::shared_ptr<device_backend> backend)
    : backend_(std::move(backend)),
      handle_(own(backend_, require_device(backend_, "the stream").create_stream(),
                  &device_backend::destroy_stream))
{
}

event::event(std::shared_ptr<device_backend> backend)
    : backend_(std::move(backend)),
      handle_(own(backend_, require_device(backend_, "the event").create_event(),
                  &device_backend::destroy_event))
{
}

loaded_module::loaded_module(std::shared_ptr<device_backend> backend, linked_image const& image)
    : backend_(std::move(backend)),
      handle_(own(backend_, require_device(backend_, "the module").load(image),
                  &device_backend::unload))
{
}

std::string loaded_module::required_name(char const* name)
{
  if (name != nullptr) return name;
  fail_use("a kernel with no name (a null pointer) is asked for", "kernel", "name a kernel");
}

device_backend::handle loaded_module::find_kernel(
    std::string const& name, std::span<std::size_t const> parameter_sizes) const
{
  auto& device = require_device(backend_, "the module");
  if (name.empty() || name.find('\0') != std::string::npos) fail_kernel(name);
  return device.find_kernel(handle_.get(), name, parameter_sizes);
}

std::shared_ptr<device> open_device(std::string_view name, cpu_options const& options)
{
  if (name == "cpu") return std::make_shared<device>(detail::open_cpu(target("sm_90"), options));
  if (name.starts_with("cpu:"))
    return std::make_shared<device>(detail::open_cpu(target(name.substr(4)), options));
  return std::make_shared<device>(detail::open_gpu(parse_ordinal(name)));
}

std::shared_ptr<device> open_device(char const* name, cpu_options const& options)
{
  return open_device(name == nullptr ? std::string_view() : std::string_view(name), options);
}

std::vector<device_info> list_gpus(std::string& why_none)
try {
  auto infos = detail::gpu_infos();
  if (infos.empty()) why_none = "the driver shows no GPU";
  return infos;
} catch (error const& failed) {
  why_none = failed.what();
  return {};
}

int driver_version(std::string& why_none)
try {
  auto const& api = detail::driver::open();
  int version = 0;
  api.check(api.driver_get_version(&version), "asking the driver's version");
  return version;
} catch (error const& failed) {
  why_none = failed.what();
  return 0;
}

}  // namespace fatlink
