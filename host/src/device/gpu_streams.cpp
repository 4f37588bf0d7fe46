// SPDX-License-Identifier: Apache-2.0
#include "device/gpu_streams.hpp"

#include "device/relaxed_capture.hpp"

namespace fatlink::detail {

CUstream gpu_streams::create_stream() const
{
  CUstream stream = nullptr;
  api_.check(api_.stream_create(&stream, CU_STREAM_NON_BLOCKING), "creating a stream on", gpu_);
  return stream;
}

void gpu_streams::synchronize(CUstream stream) const
{
  api_.check(api_.stream_synchronize(stream), "running a kernel on", gpu_);
}

stream_facts gpu_streams::describe(CUstream stream) const
{
  unsigned long long id = 0;
  api_.check(api_.stream_get_id(stream, &id), "identifying a stream of", gpu_);
  auto status = CU_STREAM_CAPTURE_STATUS_NONE;
  api_.check(api_.stream_is_capturing(stream, &status), "examining a stream of", gpu_);
  return {.id = id, .is_capturing = status != CU_STREAM_CAPTURE_STATUS_NONE};
}

CUevent gpu_streams::create_event(unsigned flags) const
{
  CUevent event = nullptr;
  api_.check(api_.event_create(&event, flags), "creating an event on", gpu_);
  return event;
}

void gpu_streams::record(CUevent event, CUstream stream) const
{
  api_.check(api_.event_record(event, stream), "recording an event on", gpu_);
}

bool gpu_streams::event_done(CUevent event) const noexcept
{
  relaxed_capture const mode(api_);
  return api_.event_query(event) != CUDA_ERROR_NOT_READY;
}

double gpu_streams::elapsed_ms(CUevent start, CUevent stop) const
{
  api_.check(api_.event_synchronize(stop), "running a kernel on", gpu_);
  float ms = 0;
  api_.check(api_.event_elapsed_time(&ms, start, stop), "timing on", gpu_);
  return static_cast<double>(ms);
}

}  // namespace fatlink::detail
