// SPDX-License-Identifier: Apache-2.0
#include "fatlink/device.hpp"

#include <charconv>
#include <utility>

#include "detail/cpu_device.hpp"
#include "detail/driver.hpp"
#include "detail/format.hpp"
#include "detail/gpu_device.hpp"

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
  throw usage_error(stage::device, {.message = detail::format("device '{}': no such device", name),
                                    .input = std::string(name),
                                    .code = {},
                                    .log = {},
                                    .hint = "write gpu, gpu:1, cpu or cpu:sm_80"});
}

[[noreturn]] void fail_buffer(std::string message, char const* hint)
{
  throw usage_error(stage::device, {.message = std::move(message),
                                    .input = "device_buffer",
                                    .code = {},
                                    .log = {},
                                    .hint = hint});
}

}  // namespace

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
  return kind == device_kind::gpu ? "gpu" : "cpu";
}

stream::stream(std::shared_ptr<device_backend> backend)
    : backend_(std::move(backend)),
      handle_(own(backend_, backend_->create_stream(), &device_backend::destroy_stream))
{
}

event::event(std::shared_ptr<device_backend> backend)
    : backend_(std::move(backend)),
      handle_(own(backend_, backend_->create_event(), &device_backend::destroy_event))
{
}

loaded_module::loaded_module(std::shared_ptr<device_backend> backend, linked_image const& image)
    : backend_(std::move(backend)),
      handle_(own(backend_, backend_->load(image), &device_backend::unload))
{
}

std::shared_ptr<device> open_device(std::string_view name, cpu_options const& options)
{
  if (name == "cpu") return std::make_shared<device>(detail::open_cpu(target("sm_90"), options));
  if (name.starts_with("cpu:"))
    return std::make_shared<device>(detail::open_cpu(target(name.substr(4)), options));
  return std::make_shared<device>(detail::open_gpu(parse_ordinal(name)));
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
