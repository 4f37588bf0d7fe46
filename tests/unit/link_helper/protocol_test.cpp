// SPDX-License-Identifier: Apache-2.0
// Requests and replies of the helper: what they carry, and that nothing else is taken for them.
#include <gmock/gmock.h>

#include "fixtures.hpp"
#include "link_helper/link_helper.hpp"
#include "util/bytes/sha256.hpp"

using namespace fatlink;
using namespace fatlink::detail;

namespace {

bytes_view body_of(byte_buffer const& message)
{
  return bytes_view(message).subspan(k_message_header);
}

}  // namespace

TEST(Protocol, CarriesARequest)
{
  auto const input = fixtures::to_bytes("fatbin");
  auto const message = encode(
      link_request{
          .emit = image_kind::ptx, .options = {"-lto", "-ptx"}, .inputs = {{"a.fatbin", input}}},
      7);
  auto const header = decode_header(bytes_view(message).first(k_message_header));
  EXPECT_EQ(header.kind, message_kind::request);
  EXPECT_EQ(header.size, message.size() - k_message_header);
  EXPECT_EQ(header.identity.number, 7U);
  EXPECT_EQ(header.identity.digest, sha256(body_of(message)));
  auto const got = decode_request(body_of(message));
  EXPECT_EQ(got.emit, image_kind::ptx);
  EXPECT_THAT(got.options, testing::ElementsAre("-lto", "-ptx"));
  ASSERT_EQ(got.inputs.size(), 1U);
  EXPECT_EQ(got.inputs[0].name, "a.fatbin");
  EXPECT_TRUE(std::equal(got.inputs[0].bytes.begin(), got.inputs[0].bytes.end(), input.begin(),
                         input.end()));
}

TEST(Protocol, CarriesEveryKindThatNvjitlinkMakes)
{
  for (auto const emit :
       {image_kind::cubin, image_kind::ptx, image_kind::ltoir, image_kind::relocatable}) {
    auto const message = encode(link_request{.emit = emit, .options = {}, .inputs = {}}, 1);
    EXPECT_EQ(decode_request(body_of(message)).emit, emit);
  }
  for (auto const emit : {image_kind::ptx_set, static_cast<image_kind>(5)}) {
    auto const message = encode(link_request{.emit = emit, .options = {}, .inputs = {}}, 1);
    EXPECT_THROW((void)decode_request(body_of(message)), protocol_error);
  }
}

TEST(Protocol, CarriesAProgram)
{
  auto const got = decode_program(body_of(
      encode(program{.name = "x.cu",
                     .source = "int x;",
                     .headers = {{"a.h", "int a;"}},
                     .compiles = {{.options = {"-a", "-b"}}, {.options = {}, .wants_cubin = true}}},
             1)));
  EXPECT_EQ(got.name, "x.cu");
  EXPECT_EQ(got.source, "int x;");
  ASSERT_EQ(got.headers.size(), 1U);
  EXPECT_EQ(got.headers[0].text, "int a;");
  ASSERT_EQ(got.compiles.size(), 2U);
  EXPECT_THAT(got.compiles[0].options, testing::ElementsAre("-a", "-b"));
  EXPECT_FALSE(got.compiles[0].wants_cubin);
  EXPECT_TRUE(got.compiles[1].wants_cubin);
}

TEST(Protocol, CarriesLookUpsOfFiles)
{
  EXPECT_EQ(decode_look_up(body_of(encode_look_up("/@1/x.h", {}))), "/@1/x.h");
  auto const message = encode(looked_up_file{.kind = looked_up_file::file_kind::regular,
                                             .device = 1,
                                             .inode = 2,
                                             .missing = 3,
                                             .text = "int x;"},
                              {});
  auto const body = body_of(message);
  auto const file = decode_file(body);
  EXPECT_EQ(file.kind, looked_up_file::file_kind::regular);
  EXPECT_EQ(file.device, 1U);
  EXPECT_EQ(file.inode, 2U);
  EXPECT_EQ(file.missing, 3U);
  EXPECT_EQ(file.text, "int x;");
  for (std::size_t kept = 0; kept < body.size(); ++kept)
    EXPECT_THROW((void)decode_file(bytes_view(body).first(kept)), protocol_error) << kept;
}

TEST(Protocol, CarriesProductsFailuresAndHellos)
{
  auto const product = decode_product(body_of(encode(
      link_product{.bytes = fixtures::to_bytes("cubin"), .warnings = {"w"}, .ms = 1.5}, {})));
  EXPECT_EQ(product.bytes, fixtures::to_bytes("cubin"));
  EXPECT_THAT(product.warnings, testing::ElementsAre("w"));
  EXPECT_EQ(product.ms, 1.5);

  for (auto const unavailable : {false, true}) {
    auto const message = encode(
        helper_error{
            stage::linker,
            {.message = "m", .input = "i", .code = vendor_code("c"), .log = "l", .hint = "h"},
            unavailable},
        {.number = 9, .digest = {}});
    auto const header = decode_header(bytes_view(message).first(k_message_header));
    EXPECT_EQ(header.identity.number, 9U);
    auto const failure = decode_failure(body_of(message), header.kind);
    EXPECT_EQ(failure.is_unavailable, unavailable);
    EXPECT_EQ(failure.details.message + failure.details.input + failure.details.code.text() +
                  failure.details.log + failure.details.hint,
              "miclh");
  }

  auto const hello = decode_hello(
      body_of(encode(helper_hello{13, 5, 99, "path", "reason", "identity", {"seccomp: on"}})));
  EXPECT_EQ(hello.minor, 5U);
  EXPECT_EQ(hello.process, 99U);
  EXPECT_THAT(hello.layers, testing::ElementsAre("seccomp: on"));
  EXPECT_EQ(hello.path + hello.reason + hello.identity, "pathreasonidentity");
}

TEST(Protocol, RefusesEveryTruncationAndWhatFollows)
{
  auto const input = fixtures::to_bytes("fatbin");
  auto message = encode(
      link_request{.emit = image_kind::cubin, .options = {"-lto"}, .inputs = {{"a.fatbin", input}}},
      1);
  for (std::size_t n = 0; n < message.size() - k_message_header; ++n)
    EXPECT_THROW((void)decode_request(body_of(message).first(n)), protocol_error) << n;
  message.push_back(std::byte{0});
  EXPECT_THROW((void)decode_request(body_of(message)), protocol_error);
}

TEST(Protocol, RefusesHeadersThatAreNone)
{
  auto const good = encode(helper_hello{13, 0, 1, "", "", "", {}});
  EXPECT_THROW((void)decode_header(bytes_view(good).first(8)), protocol_error);
  for (auto const& [at, value] :
       {std::pair<std::size_t, int>{0, 'X'}, {4, 99}, {4, 0}, {k_message_header - 1, 1}}) {
    auto bad = good;
    bad[at] = static_cast<std::byte>(value);
    EXPECT_THROW((void)decode_header(bytes_view(bad).first(k_message_header)), protocol_error)
        << at;
  }
}

TEST(Protocol, RefusesCountsKindsAndStagesBeyondTheKnown)
{
  auto request = encode(link_request{.emit = image_kind::cubin, .options = {}, .inputs = {}}, 1);
  request[k_message_header] = std::byte{9};  // emit
  EXPECT_THROW((void)decode_request(body_of(request)), protocol_error);
  request[k_message_header] = std::byte{0};
  request[k_message_header + 7] = std::byte{0xFF};  // the count of options
  EXPECT_THROW((void)decode_request(body_of(request)), protocol_error);
  auto failure = encode(helper_error{}, {});
  failure[k_message_header] = std::byte{200};
  EXPECT_THROW((void)decode_failure(body_of(failure), message_kind::failure), protocol_error);
}

TEST(Protocol, RefusesBodiesLargerThanTheirKindMayBe)
{
  auto message = encode(helper_error{}, {});
  auto const limits = {std::pair{message_kind::request, k_largest_request},
                       {message_kind::hello, k_largest_hello},
                       {message_kind::product, k_largest_product},
                       {message_kind::failure, k_largest_failure}};
  for (auto const& [kind, largest] : limits)
    for (auto const size : {largest, largest + 1}) {
      message[4] = static_cast<std::byte>(kind);
      std::memcpy(message.data() + k_message_header - sizeof size, &size, sizeof size);
      auto const decode = [&] {
        return decode_header(bytes_view(message).first(k_message_header)).size;
      };
      if (size == largest)
        EXPECT_EQ(decode(), size);
      else
        EXPECT_THROW((void)decode(), protocol_error);
    }
}

TEST(Protocol, CutsTextsThatAreTooLong)
{
  auto const message = encode(
      helper_error{stage::linker,
                   {.message = std::string(100'000, 'm'), .log = std::string(3'000'000, 'l')},
                   false},
      {});
  EXPECT_LE(message.size(), k_largest_failure);
  auto const failure = decode_failure(body_of(message), message_kind::failure);
  EXPECT_THAT(failure.details.message, testing::EndsWith("m\n[cut]"));
  EXPECT_THAT(failure.details.log, testing::EndsWith("l\n[cut]"));
}

TEST(Protocol, EscapesControlCharactersInReplies)
{
  auto const failure = decode_failure(
      body_of(encode(helper_error{stage::linker, {.message = "\x1b[2J", .log = "\a"}, false}, {})),
      message_kind::failure);
  EXPECT_EQ(failure.details.message, "\\x1b[2J");
  EXPECT_EQ(failure.details.log, "\\x07");
  auto const product = decode_product(
      body_of(encode(link_product{.bytes = {}, .warnings = {"\x1b[31mred"}, .ms = 0}, {})));
  EXPECT_THAT(product.warnings, testing::ElementsAre("\\x1b[31mred"));
}
