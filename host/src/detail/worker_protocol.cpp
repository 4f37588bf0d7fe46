// SPDX-License-Identifier: Apache-2.0
#include "detail/worker_protocol.hpp"

#include <bit>
#include <cstring>

#include "detail/byte_reader.hpp"

namespace fatlink::detail {
namespace {

constexpr std::string_view k_magic = "FLK1";
constexpr std::uint32_t k_most_count = 4096;  // of options, inputs and warnings

class writer {
 public:
  explicit writer(message_kind kind)
  {
    raw(k_magic.data(), k_magic.size());
    number(static_cast<std::uint32_t>(kind));
    number(std::uint64_t{0});  // the size, once it is known
  }

  template <typename Number>
  void number(Number value)
  {
    raw(&value, sizeof value);
  }
  void text(std::string const& value)
  {
    number(static_cast<std::uint32_t>(value.size()));
    raw(value.data(), value.size());
  }
  void texts(std::vector<std::string> const& values)
  {
    number(static_cast<std::uint32_t>(values.size()));
    for (auto const& one : values) text(one);
  }
  void bytes(bytes_view value)
  {
    number(static_cast<std::uint64_t>(value.size()));
    raw(value.data(), value.size());
  }
  byte_buffer finish()
  {
    auto const size = static_cast<std::uint64_t>(made_.size() - k_message_header);
    std::memcpy(made_.data() + k_message_header - sizeof size, &size, sizeof size);
    return std::move(made_);
  }

 private:
  void raw(void const* from, std::size_t size)
  {
    auto const at = made_.size();
    made_.resize(at + size);
    if (size != 0) std::memcpy(made_.data() + at, from, size);
  }

  byte_buffer made_;
};

class reader {
 public:
  explicit reader(bytes_view from) : bytes_(from) {}

  template <typename Number>
  Number number()
  try {
    auto const value = bytes_.read<Number>(at_);
    at_ += sizeof value;
    return value;
  } catch (out_of_bytes const&) {
    throw protocol_error("the message ends too early");
  }
  bytes_view view(std::uint64_t size)
  try {
    auto const found = bytes_.view(at_, size);
    at_ += size;
    return found;
  } catch (out_of_bytes const&) {
    throw protocol_error("a size is past the end of the message");
  }
  std::string text()
  {
    auto const found = view(number<std::uint32_t>());
    return {reinterpret_cast<char const*>(found.data()), found.size()};
  }
  std::uint32_t count()
  {
    auto const found = number<std::uint32_t>();
    if (found > k_most_count) throw protocol_error("a count is too large");
    return found;
  }
  std::vector<std::string> texts()
  {
    std::vector<std::string> found(count());
    for (auto& one : found) one = text();
    return found;
  }
  void expect_end(bytes_view whole) const
  {
    if (at_ != whole.size()) throw protocol_error("bytes are left after the message");
  }

 private:
  byte_reader bytes_;
  std::uint64_t at_ = 0;
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
  reader from(header);
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
  reader from(body);
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
  from.expect_end(body);
  return found;
}

worker_hello decode_hello(bytes_view body)
{
  reader from(body);
  worker_hello found;
  found.major = from.number<std::uint32_t>();
  found.minor = from.number<std::uint32_t>();
  found.path = from.text();
  found.reason = from.text();
  from.expect_end(body);
  return found;
}

link_product decode_product(bytes_view body)
{
  reader from(body);
  link_product found;
  found.ms = std::bit_cast<double>(from.number<std::uint64_t>());
  found.warnings = from.texts();
  auto const bytes = from.view(from.number<std::uint64_t>());
  found.bytes.assign(bytes.begin(), bytes.end());
  from.expect_end(body);
  return found;
}

worker_failure decode_failure(bytes_view body, message_kind kind)
{
  reader from(body);
  worker_failure found;
  found.is_unavailable = kind == message_kind::unavailable;
  auto const where = from.number<std::uint32_t>();
  if (where > static_cast<std::uint32_t>(stage::report)) throw protocol_error("an unknown stage");
  found.where = static_cast<fatlink::stage>(where);
  auto& [message, input, code, log, hint] = found.details;
  for (auto* text : {&message, &input, &code, &log, &hint}) *text = from.text();
  from.expect_end(body);
  return found;
}

}  // namespace fatlink::detail
