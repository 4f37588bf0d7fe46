// SPDX-License-Identifier: Apache-2.0
#include "fatlink/device.hpp"

#include <cstdint>

#include "device/backends.hpp"
#include "device/cuda_driver.hpp"
#include "device/device_checks.hpp"
#include "device/devices.hpp"
#include "util/text/format.hpp"

namespace fatlink {

link_options device::link_options(link_mode mode) const
{
  return detail::link_options_for(info(), mode);
}

std::shared_ptr<device_address> device::map_bytes(void* memory, std::size_t bytes,
                                                  host_access access) const
{
  auto& backend = require_device(backend_, "the device");
  if (memory == nullptr && bytes != 0)
    detail::fail_use("the host memory to map is null", "memory",
                     "pass the address of the first object");
  constexpr std::size_t k_largest = std::size_t{1} << 44U;  // as of an allocation
  if (bytes > k_largest || bytes > UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(memory))
    detail::fail_use(
        detail::format("{} bytes of host memory cannot be mapped: no array is that large", bytes),
        "memory", "pass the size of the array");
  auto address = std::make_unique<device_address>();
  *address = backend.map_host(memory, bytes, access == host_access::read_only);
  return {address.release(), [device = backend_](device_address* mapped) {
            device->release(*mapped);
            delete mapped;
          }};
}

std::shared_ptr<device> open_device(std::string_view name, cpu_options const& options)
{
  if (name == "cpu") return std::make_shared<device>(detail::open_cpu(target("sm_90"), options));
  if (name.starts_with("cpu:"))
    return std::make_shared<device>(detail::open_cpu(target(name.substr(4)), options));
  return std::make_shared<device>(detail::open_gpu(detail::parse_ordinal(name)));
}

std::shared_ptr<device> open_device(char const* name, cpu_options const& options)
{
  return open_device(name == nullptr ? std::string_view() : std::string_view(name), options);
}

loaded_module link_and_load(device const& destination, linker& linker,
                            std::vector<input> const& inputs, link_mode mode)
{
  return destination.load(linker.link(inputs, destination.link_options(mode)));
}

std::vector<device_info> list_gpus(std::string& reason)
try {
  auto infos = detail::gpu_infos();
  if (infos.empty()) reason = "the driver shows no GPU";
  return infos;
} catch (error const& failure) {
  reason = failure.what();
  return {};
}

int driver_version(std::string& reason)
try {
  auto const& api = detail::driver::open();
  int version = 0;
  api.check(api.driver_get_version(&version), "asking the driver's version");
  return version;
} catch (error const& failure) {
  reason = failure.what();
  return 0;
}

}  // namespace fatlink
