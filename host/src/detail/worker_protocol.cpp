// SPDX-License-Identifier: Apache-2.0
#include "detail/worker_protocol.hpp"

#include <bit>
#include <cstring>

namespace fatlink::detail {
namespace {

constexpr std::string_view k_magic = "FLK1";

class writer : public sequence_writer {
 public:
  explicit writer(message_kind kind)
  {
    raw(k_magic.data(), k_magic.size());
    number(static_cast<std::uint32_t>(kind));
    number(std::uint64_t{0});  // the size, once it is known
  }
  byte_buffer finish()
  {
    auto const size = static_cast<std::uint64_t>(made_.size() - k_message_header);
    std::memcpy(made_.data() + k_message_header - sizeof size, &size, sizeof size);
    return take();
  }
};

}  // namespace

byte_buffer encode(link_request const& request)
{
  writer to(message_kind::request);
  to.number(static_cast<std::uint32_t>(request.emit));
  to.texts(request.options);
  to.number(static_cast<std::uint32_t>(request.inputs.size()));
  for (auto const& one : request.inputs) {
    to.text(one.name);
    to.bytes(one.bytes);
  }
  return to.finish();
}

byte_buffer encode(worker_hello const& hello)
{
  writer to(message_kind::hello);
  to.number(hello.major);
  to.number(hello.minor);
  to.text(hello.path);
  to.text(hello.reason);
  to.text(hello.identity);
  return to.finish();
}

byte_buffer encode(link_product const& product)
{
  writer to(message_kind::product);
  to.number(std::bit_cast<std::uint64_t>(product.ms));
  to.texts(product.warnings);
  to.bytes(product.bytes);
  return to.finish();
}

byte_buffer encode(worker_failure const& failure)
{
  writer to(failure.is_unavailable ? message_kind::unavailable : message_kind::link_failure);
  to.number(static_cast<std::uint32_t>(failure.where));
  auto const& [message, input, code, log, hint] = failure.details;
  for (auto const* text : {&message, &input, &code, &log, &hint}) to.text(*text);
  return to.finish();
}

message_header decode_header(bytes_view header)
{
  sequence_reader from(header);
  auto const magic = from.view(k_magic.size());
  if (std::memcmp(magic.data(), k_magic.data(), k_magic.size()) != 0)
    throw protocol_error("what was said is no message");
  auto const kind = from.number<std::uint32_t>();
  if (kind < 1 || kind > static_cast<std::uint32_t>(message_kind::unavailable))
    throw protocol_error("a message of unknown kind");
  auto const size = from.number<std::uint64_t>();
  if (size > k_most_message) throw protocol_error("a message of more than 2 GiB");
  return {static_cast<message_kind>(kind), size};
}

link_request decode_request(bytes_view body)
{
  sequence_reader from(body);
  link_request found;
  auto const emit = from.number<std::uint32_t>();
  if (emit > static_cast<std::uint32_t>(image_kind::ptx))
    throw protocol_error("an image of unknown kind");
  found.emit = static_cast<image_kind>(emit);
  found.options = from.texts();
  found.inputs.resize(from.count());
  for (auto& one : found.inputs) {
    one.name = from.text();
    one.bytes = from.view(from.number<std::uint64_t>());
  }
  from.expect_end();
  return found;
}

worker_hello decode_hello(bytes_view body)
{
  sequence_reader from(body);
  worker_hello found;
  found.major = from.number<std::uint32_t>();
  found.minor = from.number<std::uint32_t>();
  found.path = from.text();
  found.reason = from.text();
  found.identity = from.text();
  from.expect_end();
  return found;
}

link_product decode_product(bytes_view body)
{
  sequence_reader from(body);
  link_product found;
  found.ms = std::bit_cast<double>(from.number<std::uint64_t>());
  found.warnings = from.texts();
  found.bytes = from.bytes();
  from.expect_end();
  return found;
}

worker_failure decode_failure(bytes_view body, message_kind kind)
{
  sequence_reader from(body);
  worker_failure found;
  found.is_unavailable = kind == message_kind::unavailable;
  auto const where = from.number<std::uint32_t>();
  if (where > static_cast<std::uint32_t>(stage::report)) throw protocol_error("an unknown stage");
  found.where = static_cast<fatlink::stage>(where);
  auto& [message, input, code, log, hint] = found.details;
  for (auto* text : {&message, &input, &code, &log, &hint}) *text = from.text();
  from.expect_end();
  return found;
}

}  // namespace fatlink::detail
