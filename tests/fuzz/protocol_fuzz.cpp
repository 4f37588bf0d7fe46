// SPDX-License-Identifier: Apache-2.0
// Any bytes as a message between host and link helper, in either direction.
#include <cstddef>
#include <cstdint>

#include "link_helper/protocol.hpp"

namespace {

template <typename Decode>
void attempt(Decode const& decode)
try {
  (void)decode();
} catch (fatlink::detail::protocol_error const&) {
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  using namespace fatlink;
  using namespace fatlink::detail;
  bytes_view const bytes(reinterpret_cast<std::byte const*>(data), size);
  attempt([&] { return decode_header(bytes).size; });
  attempt([&] { return encode(decode_request(bytes), 1); });
  attempt([&] { return encode(decode_hello(bytes)); });
  attempt([&] { return encode(decode_program(bytes), 1); });
  attempt([&] { return encode(decode_compiled(bytes), {}); });
  attempt([&] { return encode(decode_product(bytes), {}); });
  attempt([&] { return encode(decode_failure(bytes, message_kind::failure), {}); });
  return 0;
}
