// SPDX-License-Identifier: Apache-2.0
#include "util/process/tool_range.hpp"

#if __has_include(<nvtx3/nvToolsExt.h>)

#include <nvtx3/nvToolsExt.h>
#include <sys/auxv.h>

namespace fatlink::detail {
namespace {

/// Null: no tool records the domain.
nvtxDomainHandle_t domain() noexcept
{
  static nvtxDomainHandle_t const created =
      ::getauxval(AT_SECURE) == 0 ? ::nvtxDomainCreateA("fatlink") : nullptr;
  return created;
}

nvtxEventAttributes_t event_of(char const* name, std::uint64_t payload) noexcept
{
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = name;
  if (payload != 0) {
    event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    event.payload.ullValue = payload;
  }
  return event;
}

}  // namespace

bool has_tool() noexcept
{
  return domain() != nullptr;
}

void push_range(char const* name, std::uint64_t payload) noexcept
{
  auto const event = event_of(name, payload);
  (void)::nvtxDomainRangePushEx(domain(), &event);
}

void pop_range() noexcept
{
  (void)::nvtxDomainRangePop(domain());
}

void mark(char const* name, std::uint64_t payload) noexcept
{
  auto const event = event_of(name, payload);
  ::nvtxDomainMarkEx(domain(), &event);
}

}  // namespace fatlink::detail

#else

namespace fatlink::detail {

bool has_tool() noexcept
{
  return false;
}

void push_range(char const* /*name*/, std::uint64_t /*payload*/) noexcept {}

void pop_range() noexcept {}

void mark(char const* /*name*/, std::uint64_t /*payload*/) noexcept {}

}  // namespace fatlink::detail

#endif
