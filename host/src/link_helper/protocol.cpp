// SPDX-License-Identifier: Apache-2.0
#include "link_helper/protocol.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "util/bytes/sha256.hpp"
#include "util/process/environment.hpp"
#include "util/text/format.hpp"
#include "util/text/number.hpp"

namespace fatlink::detail {
namespace {

constexpr std::string_view k_message_magic = "FLK4";
constexpr std::size_t k_digest_offset = 16;
constexpr std::size_t k_size_offset = 48;
constexpr std::size_t k_longest_text = std::size_t{64} << 10;
constexpr std::size_t k_longest_log = std::size_t{1} << 20;
constexpr std::size_t k_most_warnings = 256;

class writer : public sequence_writer {
 public:
  writer(message_kind kind, request_identity const& request)
  {
    raw(k_message_magic.data(), k_message_magic.size());
    number(static_cast<std::uint32_t>(kind));
    number(request.number);
    raw(request.digest.data(), request.digest.size());
    number(std::uint64_t{0});  // the size, once it is known
  }
  /// `value`, cut to `longest` bytes.
  void bounded_text(std::string const& value, std::size_t longest)
  {
    constexpr std::string_view k_cut = "\n[cut]";
    text(value.size() <= longest ? value : value.substr(0, longest - k_cut.size()).append(k_cut));
  }
  void set_digest_of_body()
  {
    auto const digest = sha256(bytes_view(made_).subspan(k_message_header));
    std::memcpy(made_.data() + k_digest_offset, digest.data(), digest.size());
  }
  byte_buffer finish()
  {
    auto const size = static_cast<std::uint64_t>(made_.size() - k_message_header);
    std::memcpy(made_.data() + k_size_offset, &size, sizeof size);
    return take();
  }
};

std::uint64_t largest(message_kind kind)
{
  switch (kind) {
    case message_kind::request:
      return k_largest_request;
    case message_kind::hello:
      return k_largest_hello;
    case message_kind::product:
      return k_largest_product;
    case message_kind::compile_request:
    case message_kind::compiled:
      return k_largest_compile;
    case message_kind::look_up:
      return k_largest_look_up;
    case message_kind::file:
      return k_largest_file;
    default:
      return k_largest_failure;
  }
}

}  // namespace

byte_buffer encode(link_request const& request, std::uint64_t number)
{
  writer message(message_kind::request, {.number = number, .digest = {}});
  message.number(static_cast<std::uint32_t>(request.emit));
  message.texts(request.options);
  message.number(static_cast<std::uint32_t>(request.inputs.size()));
  for (auto const& input : request.inputs) {
    message.text(input.name);
    message.bytes(input.bytes);
  }
  message.set_digest_of_body();
  return message.finish();
}

byte_buffer encode(program const& request, std::uint64_t number)
{
  writer message(message_kind::compile_request, {.number = number, .digest = {}});
  message.text(request.name);
  message.long_text(request.source);
  message.number(static_cast<std::uint32_t>(request.headers.size()));
  for (auto const& header : request.headers) {
    message.text(header.name);
    message.long_text(header.text);
  }
  message.number(static_cast<std::uint32_t>(request.compiles.size()));
  for (auto const& call : request.compiles) {
    message.texts(call.options);
    message.number(static_cast<std::uint32_t>(call.wants_cubin));
  }
  message.set_digest_of_body();
  return message.finish();
}

byte_buffer encode(helper_hello const& hello)
{
  writer message(message_kind::hello, {});
  message.number(hello.major);
  message.number(hello.minor);
  message.number(hello.process);
  message.text(hello.path);
  message.text(hello.reason);
  message.text(hello.identity);
  message.texts(hello.layers);
  return message.finish();
}

byte_buffer encode(link_product const& product, request_identity const& request)
{
  writer message(message_kind::product, request);
  auto const count = std::min(product.warnings.size(), k_most_warnings);
  message.number(std::bit_cast<std::uint64_t>(product.ms));
  message.number(static_cast<std::uint32_t>(count));
  for (std::size_t i = 0; i < count; ++i) message.bounded_text(product.warnings[i], k_longest_text);
  message.bytes(product.bytes);
  return message.finish();
}

byte_buffer encode(helper_error const& failure, request_identity const& request)
{
  writer message(failure.is_unavailable ? message_kind::unavailable : message_kind::failure,
                 request);
  auto const& [text, input, code, log, hint] = failure.details;
  message.number(static_cast<std::uint32_t>(failure.where));
  for (auto const* part : {&text, &input, &code.text()})
    message.bounded_text(*part, k_longest_text);
  message.bounded_text(log, k_longest_log);
  message.bounded_text(hint, k_longest_text);
  return message.finish();
}

byte_buffer encode(compile_reply const& reply, request_identity const& request)
{
  writer message(message_kind::compiled, request);
  message.number(std::bit_cast<std::uint64_t>(reply.ms));
  message.number(static_cast<std::uint32_t>(reply.products.size()));
  for (auto const& product : reply.products) {
    message.bounded_text(product.code, k_longest_text);
    message.bounded_text(product.log, k_longest_log);
    for (auto const* form : {&product.ptx, &product.ltoir, &product.cubin}) message.bytes(*form);
  }
  return message.finish();
}

byte_buffer encode_look_up(std::string const& path, request_identity const& request)
{
  writer message(message_kind::look_up, request);
  message.text(path);
  return message.finish();
}

byte_buffer encode(looked_up_file const& file, request_identity const& request)
{
  writer message(message_kind::file, request);
  message.number(static_cast<std::uint32_t>(file.kind));
  message.number(file.device);
  message.number(file.inode);
  message.number(file.missing);
  message.long_text(file.text);
  return message.finish();
}

message_header decode_header(bytes_view header)
{
  sequence_reader reader(header);
  auto const magic = reader.view(k_message_magic.size());
  if (std::memcmp(magic.data(), k_message_magic.data(), k_message_magic.size()) != 0)
    throw protocol_error("the bytes are not a message");
  auto const kind = reader.number<std::uint32_t>();
  if (kind < 1 || kind > static_cast<std::uint32_t>(message_kind::file))
    throw protocol_error("a message of unknown kind");
  message_header result{.kind = static_cast<message_kind>(kind), .identity = {}, .size = 0};
  result.identity.number = reader.number<std::uint64_t>();
  auto const digest = reader.view(result.identity.digest.size());
  std::memcpy(result.identity.digest.data(), digest.data(), digest.size());
  result.size = reader.number<std::uint64_t>();
  if (result.size > largest(result.kind))
    throw protocol_error("a message that is larger than its kind may be");
  return result;
}

link_request decode_request(bytes_view body)
{
  sequence_reader reader(body);
  link_request request;
  auto const emit = reader.number<std::uint32_t>();
  if (emit > static_cast<std::uint32_t>(image_kind::relocatable) ||
      emit == static_cast<std::uint32_t>(image_kind::ptx_set))
    throw protocol_error("an image of unknown kind");
  request.emit = static_cast<image_kind>(emit);
  request.options = reader.texts();
  request.inputs.resize(reader.count());
  for (auto& input : request.inputs) {
    input.name = reader.text();
    input.bytes = reader.view(reader.number<std::uint64_t>());
  }
  reader.expect_end();
  return request;
}

program decode_program(bytes_view body)
{
  sequence_reader reader(body);
  program request{.name = reader.text(), .source = reader.long_text()};
  request.headers.resize(reader.count());
  for (auto& header : request.headers) {
    header.name = reader.text();
    header.text = reader.long_text();
  }
  request.compiles.resize(reader.count());
  for (auto& call : request.compiles) {
    call.options = reader.texts();
    call.wants_cubin = reader.number<std::uint32_t>() != 0;
  }
  reader.expect_end();
  return request;
}

helper_hello decode_hello(bytes_view body)
{
  sequence_reader reader(body);
  helper_hello hello;
  hello.major = reader.number<std::uint32_t>();
  hello.minor = reader.number<std::uint32_t>();
  hello.process = reader.number<std::uint32_t>();
  for (auto* text : {&hello.path, &hello.reason, &hello.identity}) *text = printable(reader.text());
  for (auto const& layer : reader.texts()) hello.layers.push_back(printable(layer));
  reader.expect_end();
  return hello;
}

link_product decode_product(bytes_view body)
{
  sequence_reader reader(body);
  link_product product;
  product.ms = std::bit_cast<double>(reader.number<std::uint64_t>());
  auto const count = reader.count();
  if (count > k_most_warnings) throw protocol_error("too many warnings");
  for (std::uint32_t i = 0; i < count; ++i)
    product.warnings.push_back(printable(reader.text(k_longest_text)));
  product.bytes = reader.bytes();
  reader.expect_end();
  return product;
}

compile_reply decode_compiled(bytes_view body)
{
  sequence_reader reader(body);
  compile_reply reply{.ms = std::bit_cast<double>(reader.number<std::uint64_t>())};
  reply.products.resize(reader.count());
  for (auto& product : reply.products) {
    product.code = printable(reader.text(k_longest_text));
    product.log = printable(reader.text(k_longest_log));
    for (auto* form : {&product.ptx, &product.ltoir, &product.cubin}) *form = reader.bytes();
  }
  reader.expect_end();
  return reply;
}

std::string decode_look_up(bytes_view body)
{
  sequence_reader reader(body);
  auto path = reader.text();
  reader.expect_end();
  return path;
}

looked_up_file decode_file(bytes_view body)
{
  sequence_reader reader(body);
  looked_up_file file;
  auto const kind = reader.number<std::uint32_t>();
  if (kind > static_cast<std::uint32_t>(looked_up_file::file_kind::regular))
    throw protocol_error("a file of unknown kind");
  file.kind = static_cast<looked_up_file::file_kind>(kind);
  file.device = reader.number<std::uint64_t>();
  file.inode = reader.number<std::uint64_t>();
  file.missing = reader.number<std::uint32_t>();
  auto const text = reader.view(reader.number<std::uint64_t>());
  file.text = {reinterpret_cast<char const*>(text.data()), text.size()};
  reader.expect_end();
  return file;
}

helper_error decode_failure(bytes_view body, message_kind kind)
{
  sequence_reader reader(body);
  helper_error failure;
  failure.is_unavailable = kind == message_kind::unavailable;
  auto const stage_number = reader.number<std::uint32_t>();
  if (stage_number > static_cast<std::uint32_t>(stage::report))
    throw protocol_error("an unknown stage");
  failure.where = static_cast<fatlink::stage>(stage_number);
  auto& details = failure.details;
  details.message = printable(reader.text(k_longest_text));
  details.input = printable(reader.text(k_longest_text));
  details.code = vendor_code(printable(reader.text(k_longest_text)));
  details.log = printable(reader.text(k_longest_log));
  details.hint = printable(reader.text(k_longest_text));
  reader.expect_end();
  return failure;
}

namespace {

constexpr char const* k_variable = "FATLINK_HELPER_IDLE_SECONDS";
constexpr double k_default_seconds = 60;
constexpr double k_longest_seconds = 1e6;

}  // namespace

std::chrono::milliseconds idle_time()
{
  auto const seconds = read_decimal(environment(k_variable)).value_or(k_default_seconds);
  return std::chrono::milliseconds(static_cast<long>(std::min(seconds, k_longest_seconds) * 1000));
}

std::string idle_time_warning()
{
  auto const text = environment(k_variable);
  if (text.empty() || read_decimal(text)) return {};
  return detail::format("{}: '{}' is not a number of seconds; helpers end after {} idle seconds",
                        k_variable, printable(text), k_default_seconds);
}

}  // namespace fatlink::detail
