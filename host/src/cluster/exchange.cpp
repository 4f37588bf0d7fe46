// SPDX-License-Identifier: Apache-2.0
#include "cluster/exchange.hpp"

#include <algorithm>
#include <string_view>

#include "util/bytes/sha256.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::string_view k_magic = "FLRK";
constexpr std::size_t k_header_size =
    k_magic.size() + 2 * sizeof(std::uint32_t) + sizeof(std::uint64_t);
constexpr std::size_t k_check_size = std::tuple_size_v<digest256>;
static_assert(k_header_size + k_check_size + k_largest_body == k_largest_message);

void check_magic(bytes_view bytes)
{
  if (!std::equal(bytes.begin(), bytes.end(), k_magic.begin(), [](std::byte byte, char letter) {
        return std::to_integer<char>(byte) == letter;
      }))
    throw sequence_error("it is not a message of fatlink");
}

/// What a reader of any version can tell comes first, so that another version is named as such.
rank_message_header read_header(sequence_reader& reader)
{
  check_magic(reader.view(k_magic.size()));
  if (auto const version = reader.number<std::uint32_t>(); version != k_message_version)
    throw sequence_error(
        detail::format("its version is {}, this fatlink's is {}", version, k_message_version));
  auto const step = reader.number<std::uint32_t>();
  if (step < static_cast<std::uint32_t>(message_step::report) ||
      step > static_cast<std::uint32_t>(message_step::verdict))
    throw sequence_error("its step is unknown");
  return {.step = static_cast<message_step>(step), .call = reader.number<std::uint64_t>()};
}

/// Whether `header` is of a call or step before the one that is expected.
bool is_earlier(rank_message_header const& header, rank_message_header const& expected)
{
  return header.call != expected.call ? header.call < expected.call : header.step < expected.step;
}

}  // namespace

byte_buffer seal(rank_message_header const& header, bytes_view body)
{
  sequence_writer writer;
  writer.raw(k_magic.data(), k_magic.size());
  writer.number(k_message_version);
  writer.number(static_cast<std::uint32_t>(header.step));
  writer.number(header.call);
  writer.raw(body.data(), body.size());
  auto const check = sha256(writer.made());
  writer.raw(check.data(), check.size());
  return writer.take();
}

opened_message open_message(bytes_view message)
{
  sequence_reader reader(message);
  auto const header = read_header(reader);
  if (message.size() < k_header_size + k_check_size) throw sequence_error("it is truncated");
  auto const content = message.first(message.size() - k_check_size);
  auto const check = message.last(k_check_size);
  auto const digest = sha256(content);
  if (!std::equal(check.begin(), check.end(), digest.begin()))
    throw sequence_error("its checksum is wrong");
  return {.header = header, .body = content.subspan(k_header_size)};
}

void exchange::send(message_step step, std::vector<parcel> const& parcels, time_point deadline)
{
  std::vector<byte_buffer> sealed;
  std::vector<rank_message> messages;
  bytes_view sealed_body;
  sealed.reserve(parcels.size());
  for (auto const& [destination, body] : parcels) {
    if (sealed.empty() || body.data() != sealed_body.data()) {  // once for several ranks
      sealed_body = body;
      sealed.push_back(seal({.step = step, .call = call_}, sealed_body));
    }
    messages.push_back({.destination = destination, .bytes = sealed.back()});
  }
  channel_.send(messages, deadline);
}

std::optional<byte_buffer> exchange::receive(message_step step, unsigned source,
                                             time_point deadline)
{
  rank_message_header const expected{.step = step, .call = call_};
  while (auto message = channel_.receive(source, deadline)) {
    auto const [header, body] = open_message(*message);
    if (is_earlier(header, expected)) continue;
    if (header.step != step || header.call != call_)
      throw sequence_error("it belongs to a later step or call");
    return byte_buffer(body.begin(), body.end());
  }
  return std::nullopt;
}

}  // namespace fatlink::detail
