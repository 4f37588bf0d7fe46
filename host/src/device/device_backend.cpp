// SPDX-License-Identifier: Apache-2.0
#include "fatlink/device_backend.hpp"

#include "device/device_checks.hpp"
#include "util/text/format.hpp"

namespace fatlink {

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

device_address device_backend::map_host(void* /*memory*/, std::size_t /*bytes*/, bool /*read_only*/)
{
  detail::fail_use(detail::format("{} cannot use mapped host memory; only the reference device can",
                                  info().name),
                   "the device", "allocate a buffer on the GPU, and copy the memory to it");
}

device_backend& require_device(std::shared_ptr<device_backend> const& backend, char const* object)
{
  if (backend) return *backend;
  detail::fail_use(
      detail::format("{} belongs to no device: it was moved from, or made without one", object),
      object, "use the object that it was moved to, or make it with a device",
      error_code::moved_from);
}

void check_same_device(std::shared_ptr<device_backend> const& expected,
                       std::shared_ptr<device_backend> const& actual, char const* object)
{
  detail::check_same_device(require_device(expected, "the device"), require_device(actual, object),
                            object);
}

}  // namespace fatlink
