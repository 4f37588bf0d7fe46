// SPDX-License-Identifier: Apache-2.0
#include "fatlink/stream.hpp"

#include "device/device_checks.hpp"

namespace fatlink {

stream::stream(std::shared_ptr<device_backend> backend)
    : backend_(std::move(backend)),
      handle_(detail::own_handle(backend_, require_device(backend_, "the stream").create_stream(),
                                 &device_backend::destroy_stream))
{
}

device_backend::handle stream_view::handle_on(device_backend const& device) const
{
  if (backend_ != nullptr) detail::check_same_device(device, *backend_, "the stream");
  return handle_;
}

event::event(std::shared_ptr<device_backend> backend)
    : backend_(std::move(backend)),
      handle_(detail::own_handle(backend_, require_device(backend_, "the event").create_event(),
                                 &device_backend::destroy_event))
{
}

}  // namespace fatlink
